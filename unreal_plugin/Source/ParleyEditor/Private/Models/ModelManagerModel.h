// The models of the catalog for the models tab: what is there, and what is being done with it.
#pragma once

#include "RowBuilder.h"

#include "Core/ParleyCore.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace Parley::Editor
{

/// One model of the catalog.
struct ModelRow
{
    /// What the sidecar says of it.
    Messages::ModelInfo Info;
    /// What is being done with it, such as download; empty: nothing.
    std::string Task;
    /// How far that is, and what is counted.
    std::int64_t Done = 0;
    std::int64_t Total = 0;
    std::string Unit;
    /// This editor keeps it loaded.
    bool IsPinned = false;
    /// What the last thing that was done with it came to; empty: nothing to say.
    std::string Outcome;
    /// Outcome is a failure.
    bool HasFailed = false;

    /// Between 0 and 1; 0 where it is not known.
    float Fraction() const;
    bool IsFromHub() const;
    /// Its files can be downloaded.
    bool CanDownload() const;
    /// A download is under way.
    bool CanCancel() const;
    /// Its files were downloaded, whole or in part, and can be removed.
    bool CanDelete() const;
    /// It can be loaded.
    bool CanLoad() const;
    /// Status, sizes and place on one line.
    std::string Facts() const;
};

/// Lists, downloads, removes and loads models through an editor's sidecar. Whoever has the core calls its Update, and
/// everything changes in it. Threading: the game thread.
class ModelManagerModel
{
public:
    /// A list that is empty until Refresh.
    explicit ModelManagerModel(std::shared_ptr<ParleyCore> InCore);
    ModelManagerModel(const ModelManagerModel&) = delete;
    ModelManagerModel& operator=(const ModelManagerModel&) = delete;
    ~ModelManagerModel();

    /// Something changed that a window shows. May be empty.
    std::function<void()> Changed;

    /// The models, as the catalog has them.
    const std::vector<ModelRow>& GetRows() const { return Rows; }
    /// Why there is no list; empty: there is one, or none was asked for.
    const std::string& GetFault() const { return Fault; }
    /// A model by its name; null: there is none.
    const ModelRow* Find(std::string_view Name) const;
    /// The models as pickers offer them.
    static std::vector<KnownModel> KnownOf(const Messages::Models& List);
    std::vector<KnownModel> Known() const;

    /// Asks for the list; starts the sidecar where there is none.
    void Refresh();
    /// Downloads a model; goes on where an earlier download stopped.
    void Download(const std::string& Name);
    /// Stops a download; what is there is kept for the next one.
    void CancelDownload(const std::string& Name);
    /// Removes the files of a model that was downloaded.
    void Delete(const std::string& Name);
    /// Loads a model and keeps it loaded for as long as the editor's sidecar runs.
    void Load(const std::string& Name);
    /// Takes Load back.
    void Unload(const std::string& Name);

private:
    ModelRow* Row(std::string_view Name);
    bool Begin(const std::string& Name, const char* Task);
    void End(const std::string& Name, const char* Outcome, const Parley::Fault* Why);
    ReplyCallback Ended(const std::string& Name, const char* Outcome);
    void Take(const Messages::Models* List, const Parley::Fault* Why);
    void OnPushed(const Push& What);
    void OnGone();
    void Tell();

    std::shared_ptr<ParleyCore> Core;
    std::shared_ptr<bool> Life = std::make_shared<bool>(true);
    std::vector<ModelRow> Rows;
    std::string Fault;
    bool IsListing = false;
    bool MustList = false;
    HandlerId OfPushed = 0;
    HandlerId OfGone = 0;
};

} // namespace Parley::Editor
