// A character that talks in Play mode.
using System;
using System.Collections;
using System.Collections.Generic;
using NUnit.Framework;
using Parley.Messages;
using UnityEngine;
using UnityEngine.TestTools;

namespace Parley.Tests
{
    /// <summary>
    /// A character in Play mode talks with a real sidecar and a mock model: the whole way, without a model's files.
    /// The sidecar is the one of Project Settings > Parley.
    /// </summary>
    public sealed class TavernTests
    {
        private const double PatienceS = 60.0;

        private const string Inn = "{\"version\": 1, \"start_node\": \"mira\", \"default_model\": \"mock-echo\", \"nodes\": ["
            + "{\"name\": \"mira\", \"type\": \"Generate\", \"send\": \"Streamed\", \"default_exit\": \"bram\"},"
            + "{\"name\": \"bram\", \"type\": \"Generate\", \"send\": \"Whole\"}]}";

        private GameObject _character;

        [TearDown]
        public void TearDown()
        {
            if (_character != null)
            {
                UnityEngine.Object.Destroy(_character);
            }
        }

        [UnityTest]
        public IEnumerator TwoSpeakersAnswerOneLine()
        {
            ParleyAgent agent = Character();
            List<string> speakers = new List<string>();
            TurnComplete ended = null;
            ParleyException failed = null;
            agent.OnAnswer.AddListener((speaker, text, isFinal) =>
            {
                if (isFinal)
                {
                    speakers.Add(speaker);
                }
            });
            agent.OnTurnComplete.AddListener(turn => ended = turn);
            agent.OnError.AddListener(fault => failed = fault);
            agent.Say("Good evening!");
            DateTime until = DateTime.UtcNow.AddSeconds(PatienceS);
            while (ended == null && failed == null && DateTime.UtcNow < until)
            {
                yield return null;
            }
            Assert.IsNull(failed);
            Assert.IsNotNull(ended, "no turn ended within a minute");
            Assert.AreEqual(TurnStatus.Success, ended.Status);
            Assert.AreEqual("mira, bram", string.Join(", ", speakers.ToArray()));
        }

        [UnityTest]
        public IEnumerator TheSidecarStopsAndStartsAgain()
        {
            Character();
            ParleyHub hub = ParleyHub.Get();
            for (int round = 0; round < 3; round++)
            {
                hub.StartSidecar();
                DateTime until = DateTime.UtcNow.AddSeconds(PatienceS);
                while (hub.State != CoreState.Ready && DateTime.UtcNow < until)
                {
                    yield return null;
                }
                Assert.AreEqual(CoreState.Ready, hub.State);
                hub.StopSidecar();
                yield return null;
            }
        }

        private ParleyAgent Character()
        {
            _character = new GameObject("Mira");
            _character.SetActive(false);
            ParleyAgent agent = _character.AddComponent<ParleyAgent>();
            agent.Workflow = ParleyWorkflow.Create(Inn);
            _character.SetActive(true);
            return agent;
        }
    }
}
