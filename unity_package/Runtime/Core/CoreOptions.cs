// How a game has its sidecar, and what every sidecar it has is told.
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>What ParleyCore needs to know. Set Launch, or Endpoint and Token.</summary>
    public sealed class CoreOptions
    {
        /// <summary>How a sidecar is started; null: connect to Endpoint.</summary>
        public SidecarOptions Launch;

        /// <summary>Where a sidecar of somebody else listens.</summary>
        public string Endpoint = "";

        /// <summary>What that one wants to hear.</summary>
        public string Token = "";

        /// <summary>The public key of that one where it encrypts; empty: it does not.</summary>
        public string ServerPublicKey = "";

        /// <summary>Who asks, for the sidecar's log.</summary>
        public string ClientName = "unity";

        /// <summary>So often in a row a sidecar that goes is started again.</summary>
        public int MaxRestarts = 3;

        /// <summary>Seconds to wait before the first restart, the second, …; the last one holds for all others.</summary>
        public double[] RestartPausesS = { 0.0, 0.5, 2.0 };

        /// <summary>A sidecar that was there for so many seconds has the next restart counted from the first again.</summary>
        public double StableAfterS = 60.0;

        /// <summary>Seconds within which Hello must be answered.</summary>
        public double ConnectTimeoutS = 10.0;

        /// <summary>Seconds for which a broken connection to a sidecar that lives is made anew.</summary>
        public double ReconnectS = Protocol.ResumeWindowS;

        /// <summary>Milliseconds that a sidecar has to end by itself before it is killed.</summary>
        public int StopPatienceMs = 600;

        /// <summary>Hears what the sidecar logs and what goes wrong here, in Update. Null: nobody.</summary>
        public LogSink Log;
    }

    /// <summary>What becomes of a line that is said while a turn runs.</summary>
    public enum WhenBusy
    {
        /// <summary>One line waits and is said next; a second one is refused.</summary>
        QueueOne,

        /// <summary>It is refused.</summary>
        Refuse,
    }

    /// <summary>What became of a line.</summary>
    public enum SayOutcome
    {
        /// <summary>It is on its way. Its TurnCompleted will come.</summary>
        Sent,

        /// <summary>It is said as soon as it can be. Its TurnCompleted will come.</summary>
        Queued,

        /// <summary>It was refused: a turn runs, and a line may be waiting already.</summary>
        Busy,

        /// <summary>It was refused: there is no sidecar, or this agent could not be made.</summary>
        Unavailable,
    }

    /// <summary>What a character is made of.</summary>
    public sealed class AgentOptions
    {
        /// <summary>Its name within the game, by which it is found again after Attach; empty: one is made up.</summary>
        public string Key = "";

        /// <summary>The workflow, as its file holds it.</summary>
        public JObject Workflow = new JObject();

        /// <summary>Values that take the place of those the workflow declares.</summary>
        public JObject Variables = new JObject();

        /// <summary>Have TurnComplete.Debug filled.</summary>
        public bool EnableDiagnostics;

        /// <summary>Steps of one turn; more end it.</summary>
        public int MaxSteps = 64;

        /// <summary>A saved dialog, or its short form, to begin with; null: none.</summary>
        public JToken SeedDialog;

        /// <summary>What becomes of a line that is said while a turn runs.</summary>
        public WhenBusy WhenBusy = WhenBusy.QueueOne;
    }

    /// <summary>How it stands with the sidecar.</summary>
    public enum CoreState
    {
        /// <summary>Start was not called, or Stop was.</summary>
        Stopped,

        /// <summary>The first sidecar is being started, and what it should have is made.</summary>
        Starting,

        /// <summary>All is there.</summary>
        Ready,

        /// <summary>The sidecar is lost; another one is being started, and gets all that the old one had.</summary>
        Gone,

        /// <summary>There is no sidecar, and none will be started until Start is called.</summary>
        Down,

        /// <summary>It is ending.</summary>
        Stopping,
    }
}
