// The models of the catalog for the models tab: what is there, and what is being done with it.
#include "ModelManagerModel.h"

#include "EditorJson.h"

#include "Core/JsonWrite.h"

#include <algorithm>
#include <utility>

namespace Parley::Editor
{

float ModelRow::Fraction() const
{
    return Total > 0 ? static_cast<float>((std::min)(1.0, static_cast<double>(Done) / static_cast<double>(Total))) : 0.0f;
}

bool ModelRow::IsFromHub() const
{
    return Info.Source.rfind("huggingface", 0) == 0;
}

bool ModelRow::CanDownload() const
{
    return Task.empty() && IsFromHub() && Info.Status == Messages::ModelStatus::Absent;
}

bool ModelRow::CanCancel() const
{
    return Task == "download" || Info.Status == Messages::ModelStatus::Downloading;
}

bool ModelRow::CanDelete() const
{
    return Task.empty() && IsFromHub() && !IsPinned
        && (Info.Status == Messages::ModelStatus::Downloaded || Info.BytesPartial > 0);
}

bool ModelRow::CanLoad() const
{
    return Task.empty() && !IsPinned && Info.Status != Messages::ModelStatus::Downloading
        && (Info.Status != Messages::ModelStatus::Absent || !IsFromHub());
}

std::string ModelRow::Facts() const
{
    std::string Text(WordOf(Info.Status));
    if (Info.BytesOnDisk > 0)
    {
        Text += ", " + EditorJson::Bytes(Info.BytesOnDisk) + " on disk";
    }
    if (Info.BytesPartial > 0)
    {
        Text += ", " + EditorJson::Bytes(Info.BytesPartial) + " of a download";
    }
    if (Info.BytesInMemory > 0)
    {
        Text += ", " + EditorJson::Bytes(Info.BytesInMemory) + " in memory";
    }
    if (!Info.Backend.empty())
    {
        Text += ", " + Info.Backend;
        Text += Info.LayersOffloaded > 0 ? " (" + std::to_string(Info.LayersOffloaded) + " layers)" : "";
    }
    return Info.License.empty() ? Text : Text + ", " + Info.License;
}

ModelManagerModel::ModelManagerModel(std::shared_ptr<ParleyCore> InCore) : Core(std::move(InCore))
{
    OfPushed = Core->Pushed.Add([this](const Push& What) { OnPushed(What); });
    OfGone = Core->Gone.Add([this](const std::string&) { OnGone(); });
}

ModelManagerModel::~ModelManagerModel()
{
    Core->Pushed.Remove(OfPushed);
    Core->Gone.Remove(OfGone);
}

const ModelRow* ModelManagerModel::Find(std::string_view Name) const
{
    const auto At = std::find_if(Rows.begin(), Rows.end(), [Name](const ModelRow& Each) { return Each.Info.Name == Name; });
    return At == Rows.end() ? nullptr : &*At;
}

ModelRow* ModelManagerModel::Row(std::string_view Name)
{
    return const_cast<ModelRow*>(Find(Name));
}

std::vector<KnownModel> ModelManagerModel::KnownOf(const Messages::Models& List)
{
    std::vector<KnownModel> Found;
    for (const Messages::ModelInfo& Info : List.Items)
    {
        Found.push_back(KnownModel{Info.Name, std::string(WordOf(Info.Type)), Info.Speakers});
    }
    return Found;
}

std::vector<KnownModel> ModelManagerModel::Known() const
{
    std::vector<KnownModel> Found;
    for (const ModelRow& Each : Rows)
    {
        Found.push_back(KnownModel{Each.Info.Name, std::string(WordOf(Each.Info.Type)), Each.Info.Speakers});
    }
    return Found;
}

void ModelManagerModel::Refresh()
{
    if (IsListing)
    {
        MustList = true;
        return;
    }
    IsListing = true;
    MustList = false;
    Core->Start();
    Core->Request(std::make_shared<Messages::ListModels>(),
        [this, Alive = std::weak_ptr<bool>(Life)](std::unique_ptr<Reply> Answer, const Parley::Fault* Why)
    {
        if (Alive.expired())
        {
            return;
        }
        IsListing = false;
        Take(As<Messages::Models>(Answer.get()), Why);
        if (MustList && !Alive.expired())
        {
            Refresh();
        }
    });
}

void ModelManagerModel::Download(const std::string& Name)
{
    if (Begin(Name, "download"))
    {
        auto Request = std::make_shared<Messages::DownloadModel>();
        Request->Model = Name;
        Core->Request(Request, Ended(Name, "downloaded and checked"));
    }
}

void ModelManagerModel::CancelDownload(const std::string& Name)
{
    auto Request = std::make_shared<Messages::CancelDownload>();
    Request->Model = Name;
    Core->Request(Request, [this, Alive = std::weak_ptr<bool>(Life)](std::unique_ptr<Reply>, const Parley::Fault*)
    {
        if (!Alive.expired())
        {
            Refresh(); // the list tells what became of it, and the download's own answer why
        }
    });
}

void ModelManagerModel::Delete(const std::string& Name)
{
    if (Begin(Name, "delete"))
    {
        auto Request = std::make_shared<Messages::DeleteModel>();
        Request->Model = Name;
        Core->Request(Request, Ended(Name, "removed"));
    }
}

void ModelManagerModel::Load(const std::string& Name)
{
    if (!Begin(Name, "load"))
    {
        return;
    }
    Core->PinModel(Name, [this, Name, Alive = std::weak_ptr<bool>(Life)](const Parley::Fault* Why)
    {
        if (!Alive.expired())
        {
            if (ModelRow* Loaded = Row(Name))
            {
                Loaded->IsPinned = Why == nullptr;
            }
            End(Name, "loaded", Why);
        }
    });
}

void ModelManagerModel::Unload(const std::string& Name)
{
    if (!Begin(Name, "unload"))
    {
        return;
    }
    Core->UnpinModel(Name, [this, Name, Alive = std::weak_ptr<bool>(Life)](const Parley::Fault* Why)
    {
        if (!Alive.expired())
        {
            if (ModelRow* Unloaded = Row(Name))
            {
                Unloaded->IsPinned = Unloaded->IsPinned && Why != nullptr;
            }
            End(Name, "unloaded", Why);
        }
    });
}

bool ModelManagerModel::Begin(const std::string& Name, const char* Task)
{
    ModelRow* Begun = Row(Name);
    if (Begun == nullptr)
    {
        return false;
    }
    Begun->Task = Task;
    Begun->Done = Begun->Total = 0;
    Begun->Outcome.clear();
    Begun->HasFailed = false;
    Tell();
    return true;
}

void ModelManagerModel::End(const std::string& Name, const char* Outcome, const Parley::Fault* Why)
{
    if (ModelRow* Ended = Row(Name))
    {
        Ended->Task.clear();
        Ended->HasFailed = Why != nullptr;
        Ended->Outcome = Why == nullptr ? Outcome : Why->Text;
    }
    const std::weak_ptr<bool> Alive = Life;
    Tell();
    if (!Alive.expired() && Core->IsConnected())
    {
        Refresh();
    }
}

ReplyCallback ModelManagerModel::Ended(const std::string& Name, const char* Outcome)
{
    return [this, Name, Outcome, Alive = std::weak_ptr<bool>(Life)](std::unique_ptr<Reply>, const Parley::Fault* Why)
    {
        if (!Alive.expired())
        {
            End(Name, Outcome, Why);
        }
    };
}

void ModelManagerModel::Take(const Messages::Models* List, const Parley::Fault* Why)
{
    if (List == nullptr)
    {
        Fault = Why == nullptr ? "the sidecar sent no list" : Why->Text;
        Tell();
        return;
    }
    Fault.clear();
    std::vector<ModelRow> Taken;
    for (const Messages::ModelInfo& Info : List->Items)
    {
        const ModelRow* Old = Find(Info.Name);
        Taken.push_back(Old == nullptr ? ModelRow() : *Old);
        Taken.back().Info = Info;
    }
    Rows = std::move(Taken);
    Tell();
}

void ModelManagerModel::OnPushed(const Push& What)
{
    const auto* Told = As<Messages::Progress>(&What);
    ModelRow* About = Told == nullptr ? nullptr : Row(Told->Model);
    if (About == nullptr || About->Task.empty())
    {
        return; // somebody else's work, or the last word of what has ended
    }
    About->Done = Told->Done;
    About->Total = Told->Total;
    About->Unit = Told->Unit;
    Tell();
}

void ModelManagerModel::OnGone()
{
    for (ModelRow& Each : Rows)
    {
        if (Each.Task == "load" || Each.Task == "unload")
        {
            Each.Done = Each.Total = 0;
        }
    }
    Tell();
}

void ModelManagerModel::Tell()
{
    if (Changed)
    {
        Changed();
    }
}

} // namespace Parley::Editor
