// A game for the tests: its folders, its settings, characters, and notes of what they say.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Text;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;
using UnityEngine;

namespace PlayerTests
{
    /// <summary>What the test that runs this program wrote down for it, and a game made of that.</summary>
    internal static class Stage
    {
        private static JObject _settings;

        internal static JObject Given
        {
            get
            {
                if (_settings == null)
                {
                    string file = Environment.GetEnvironmentVariable("PLAYER_TEST");
                    _settings = JObject.Parse(File.ReadAllText(file, Encoding.UTF8));
                }
                return _settings;
            }
        }

        internal static string Folder
        {
            get { return (string)Given["folder"]; }
        }

        /// <summary>A project with settings that start a real sidecar.</summary>
        internal static ParleySettings Project()
        {
            FakeEngine.IsEditor = true;
            FakeEngine.DataPath = Path.Combine(Folder, "Assets");
            FakeEngine.StreamingAssetsPath = Path.Combine(FakeEngine.DataPath, "StreamingAssets");
            ParleySettings settings = ScriptableObject.CreateInstance<ParleySettings>();
            foreach (JToken part in (JArray)Given["command"])
            {
                settings.EditorCommand.Add((string)part);
            }
            foreach (JToken argument in (JArray)Given["arguments"])
            {
                settings.ServeArguments.Add((string)argument);
            }
            FakeEngine.ResourceByPath[ParleySettings.ResourceName] = settings;
            return settings;
        }

        /// <summary>A character of one of the workflows.</summary>
        internal static ParleyAgent Character(string name, string workflow)
        {
            ParleyAgent agent = new GameObject(name).AddComponent<ParleyAgent>();
            agent.Workflow = ParleyWorkflow.Create(((JObject)Given["workflows"][workflow]).ToString());
            return agent;
        }

        internal static void UntilReady()
        {
            FakePlayerLoop.Until(
                delegate { return ParleyHub.Instance != null && ParleyHub.Instance.State == CoreState.Ready; }, "the hub is ready");
        }

        internal static void Signal(string signal, int pid)
        {
            using (Process kill = Process.Start("kill", "-" + signal + " " + pid))
            {
                kill.WaitForExit();
            }
        }

        internal static bool IsAlive(int pid)
        {
            // A process that ended and that nobody waited for is a zombie: gone, but for its number.
            string stat = "/proc/" + pid + "/stat";
            if (!File.Exists(stat))
            {
                return false;
            }
            try
            {
                string text = File.ReadAllText(stat);
                return text[text.LastIndexOf(')') + 2] != 'Z';
            }
            catch (IOException)
            {
                return false;
            }
        }

        internal static int CountLog(LogType type, string part)
        {
            int count = 0;
            lock (FakeEngine.Log)
            {
                foreach (FakeLogLine line in FakeEngine.Log)
                {
                    if (line.Type == type && line.Message.Contains(part))
                    {
                        count++;
                    }
                }
            }
            return count;
        }
    }

    /// <summary>Notes what a character's events say.</summary>
    internal sealed class Notes
    {
        internal readonly StringBuilder Text = new StringBuilder();
        internal readonly List<string> Speakers = new List<string>();
        internal readonly List<TurnComplete> Turns = new List<TurnComplete>();
        internal readonly List<ParleyException> Errors = new List<ParleyException>();
        internal readonly List<ToolCall> Tools = new List<ToolCall>();
        internal int Frames;

        internal Notes(ParleyAgent agent)
        {
            agent.OnAnswer.AddListener(delegate(string speaker, string text, bool isFinal)
            {
                Frames++;
                Text.Append(text);
                if (isFinal)
                {
                    Speakers.Add(speaker);
                    Text.Append('|');
                }
            });
            agent.OnTurnComplete.AddListener(delegate(TurnComplete complete) { Turns.Add(complete); });
            agent.OnError.AddListener(delegate(ParleyException fault)
            {
                Errors.Add(fault);
                Console.WriteLine(agent.name + ": " + fault);
            });
            agent.OnToolCall.AddListener(delegate(ToolCall call) { Tools.Add(call); });
        }

        internal void UntilTurns(int count)
        {
            FakePlayerLoop.Until(delegate { return Turns.Count >= count; }, "turn " + count + " is over");
        }
    }
}
