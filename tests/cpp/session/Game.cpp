// The loop of the game that these scenarios play.
#include "Game.h"

#include "Core/Numbers.h"
#include "NlohmannCodec.h"

#include <chrono>
#include <thread>
#include <utility>

namespace Parley::Testing
{

double Clock()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Sleep(double Seconds)
{
    std::this_thread::sleep_for(std::chrono::duration<double>(Seconds));
}

double Number(const std::string& Text)
{
    double Value = 0.0;
    Check(Numbers::ReadReal(Text, Value), "not a number: " + Text);
    return Value;
}

std::uint64_t Whole(const std::string& Text)
{
    std::uint64_t Value = 0;
    Check(Numbers::Read(Text, Value), "not a whole number: " + Text);
    return Value;
}

void Say(const std::string& Line)
{
    std::fwrite((Line + "\n").data(), 1, Line.size() + 1, stdout);
    std::fflush(stdout);
}

Json Words(const std::vector<std::string>& Texts)
{
    Json Made = Json::Array();
    for (const std::string& Text : Texts)
    {
        Made.Add(Json::String(Text));
    }
    return Made;
}

LogSink Game::Into(const std::shared_ptr<LogLines>& Lines)
{
    return [Lines](LogLevel, std::string_view Text)
    {
        const std::lock_guard<std::mutex> Lock(Lines->Gate);
        Lines->Lines.emplace_back(Text);
    };
}

Game::Game(SessionOptions Options) : LastSeq(Options.LastSeq)
{
    Options.Log = Into(Log);
    Fault Why;
    Session = ParleySession::Connect(std::move(Options), Why);
    Check(Session != nullptr, Why.Shown());
}

std::unique_ptr<Game> Game::TryMake(SessionOptions Options, Fault& Why)
{
    std::unique_ptr<Game> Made(new Game());
    Made->LastSeq = Options.LastSeq;
    Options.Log = Into(Made->Log);
    Made->Session = ParleySession::Connect(std::move(Options), Why);
    return Made->Session != nullptr ? std::move(Made) : nullptr;
}

SessionOptions Game::Options(const Arguments& Given)
{
    SessionOptions Made;
    Fault Why;
    Check(TryOptions(Given, Made, Why), Why.Shown());
    return Made;
}

bool Game::TryOptions(const Arguments& Given, SessionOptions& Made, Fault& Why)
{
    Made.ClientName = "a test";
    Made.Codec = std::make_shared<NlohmannCodec>();
    Made.Zmq = ZmqApi::Load(Given.at("zmq"), Why);
    const std::map<std::string, std::function<void(const std::string&)>> Fields = {
        {"endpoint", [&Made](const std::string& Value) { Made.Endpoint = Value; }},
        {"token", [&Made](const std::string& Value) { Made.Token = Value; }},
        {"curve", [&Made](const std::string& Value) { Made.ServerPublicKey = Value; }},
        {"resume", [&Made](const std::string& Value) { Made.ResumeKey = Value; }},
        {"last_seq", [&Made](const std::string& Value) { Made.LastSeq = Whole(Value); }},
        {"last_request_id", [&Made](const std::string& Value) { Made.LastRequestId = Whole(Value); }},
        {"silence", [&Made](const std::string& Value) { Made.SilenceS = Number(Value); }},
        {"try", [&Made](const std::string& Value) { Made.TryTimeoutS = Number(Value); }},
        {"connect", [&Made](const std::string& Value) { Made.ConnectTimeoutS = Number(Value); }},
        {"reconnect", [&Made](const std::string& Value) { Made.ReconnectS = Number(Value); }},
    };
    for (const auto& [Name, Value] : Given)
    {
        const auto Field = Fields.find(Name);
        if (Field != Fields.end())
        {
            Field->second(Value);
        }
    }
    return Made.Zmq != nullptr;
}

void Game::Until(const std::function<bool()>& IsSo, const std::string& What, double Seconds)
{
    const double Begun = Clock();
    while (!IsSo())
    {
        Frame();
        Check(Clock() - Begun < Seconds, "after " + Numbers::Shown(Seconds) + " s still not: " + What + "; " + Story());
    }
}

std::string Game::Story()
{
    std::string Told = "states";
    for (const std::string& State : States)
    {
        Told += " " + State;
    }
    Told += "; " + Reason + ";";
    const std::lock_guard<std::mutex> Lock(Log->Gate);
    for (const std::string& Line : Log->Lines)
    {
        Told += " | " + Line;
    }
    return Told;
}

void Game::Frame()
{
    if (Session->Drain(*this, 1.0) == 0)
    {
        Sleep(0.001);
    }
}

void Game::UntilReady()
{
    Until([this] { return !States.empty(); }, "ready or refused");
    Check(States[0] == "Ready", "not ready: " + Story());
}

Answer Game::Try(std::unique_ptr<Request> Said, double TimeoutS)
{
    const std::string Name(Said->TypeName());
    Answer Came;
    int Calls = 0;
    Session->Send(
        std::move(Said), TimeoutS,
        [this, &Came, &Calls](std::unique_ptr<Reply> Told, const Fault* Why)
        {
            Numbered(Session->GetLastSeq());
            Came.Said = std::move(Told);
            Came.Why = Why != nullptr ? std::make_unique<Fault>(*Why) : nullptr;
            ++Calls;
        });
    Until([&Calls] { return Calls > 0; }, "answered: " + Name);
    Check(Calls == 1 && (Came.Said == nullptr) != (Came.Why == nullptr), "answered twice, or neither way");
    return Came;
}

std::string Game::Agent(const std::string& Model)
{
    const std::string Text =
        "{\"version\": 1, \"start_node\": \"speaker\","
        "\"variables\": [{\"name\": \"mood\", \"type\": \"string\", \"value\": \"calm\"}],"
        "\"default_model\": \"" + Model + "\", \"nodes\": ["
        "{\"name\": \"speaker\", \"type\": \"Generate\", \"default_exit\": \"closing\"},"
        "{\"name\": \"closing\", \"type\": \"Transform\", \"send\": \"Whole\","
        " \"template\": \"[{{var.mood}}] {{slot.speaker}}\"}]}";
    Messages::CreateAgent Wanted;
    std::string Why;
    Check(NlohmannCodec().Read(Text, Wanted.Workflow, Why), Why);
    return Ask<Messages::AgentCreated>(std::move(Wanted)).AgentId;
}

void Game::Numbered(std::uint64_t Seq)
{
    if (Seq != LastSeq)
    {
        LastSeq = Seq;
        Seqs.push_back(Seq);
    }
}

bool Game::Has(const std::string& State) const
{
    for (const std::string& Was : States)
    {
        if (Was == State)
        {
            return true;
        }
    }
    return false;
}

void Game::OnPush(std::unique_ptr<Push> Said, std::vector<std::uint8_t>, std::uint64_t Seq)
{
    if (Seq != 0)
    {
        Check(Seq == Session->GetLastSeq(), "LastSeq is not that of the frame");
        Check(Seq > LastSeq, "a frame came again: " + Numbers::Of(Seq));
        Numbered(Seq);
    }
    Gaps += As<Messages::Gap>(Said.get()) != nullptr ? 1 : 0;
    if (const Messages::AnswerText* Answer = As<Messages::AnswerText>(Said.get()))
    {
        std::string& Text =
            Texts[Answer->AgentId + "/" + Numbers::Of(Answer->TurnId) + "/" + Numbers::Of(Answer->Step)];
        Text = Answer->IsDelta ? Text + Answer->Text : Answer->Text;
    }
    if (const Messages::TurnComplete* Complete = As<Messages::TurnComplete>(Said.get()))
    {
        TurnsOf(Complete->AgentId).push_back(Complete->ToJson());
    }
    Hears(*Said);
}

void Game::OnReply(std::uint64_t RequestId, std::unique_ptr<Reply> Said)
{
    Numbered(Session->GetLastSeq());
    Orphans.push_back(Numbers::Of(RequestId) + " " + std::string(Said->TypeName()));
}

void Game::OnState(SessionState State, const Fault* Why)
{
    States.emplace_back(WordOf(State));
    Reason = Why != nullptr ? Why->Shown() : Reason;
}

std::vector<Json>& Game::TurnsOf(const std::string& AgentId)
{
    return Completes[AgentId];
}

Json Game::TextsOf(const std::string& AgentId, std::int64_t TurnId) const
{
    Json Found = Json::Array();
    for (int Step = 1;; ++Step)
    {
        const auto Text = Texts.find(AgentId + "/" + Numbers::Of(TurnId) + "/" + Numbers::Of(Step));
        if (Text == Texts.end())
        {
            return Found;
        }
        Found.Add(Json::String(Text->second));
    }
}

Json Game::Report()
{
    Json Told = Json::Object();
    Json& Numbered = Told.Set("seqs", Json::Array());
    for (const std::uint64_t Seq : Seqs)
    {
        Numbered.Add(Json::Unsigned(Seq));
    }
    Told.Set("states", Words(States));
    Told.Set("orphans", Words(Orphans));
    Told.Set("gaps", Json::Integer(Gaps));
    Told.Set("session_key", Json::String(Session->GetSessionKey()));
    Told.Set("last_seq", Json::Unsigned(Session->GetLastSeq()));
    Told.Set("last_request_id", Json::Unsigned(Session->GetLastRequestId()));
    Told.Set("end", Json::String(std::string(WordOf(Session->GetEnd()))));
    const std::shared_ptr<const Fault> Why = Session->GetFault();
    Told.Set("code", Json::Integer(Why != nullptr ? static_cast<int>(Why->Code) : 0));
    Told.Set("code_name", Json::String(Why != nullptr ? Why->Name : ""));
    Told.Set("message", Json::String(Why != nullptr ? Why->Text : ""));
    const std::lock_guard<std::mutex> Lock(Log->Gate);
    Told.Set("log", Words(Log->Lines));
    return Told;
}

} // namespace Parley::Testing
