// The doors of the tavern: what the game does when a model calls one of its tools.
using System;
using System.Collections.Generic;
using Newtonsoft.Json.Linq;
using UnityEngine;

namespace Parley.Samples.Tavern
{
    /// <summary>Opens and closes doors that exist only as words; a game would move something.</summary>
    [AddComponentMenu("Parley/Samples/Tavern Doors")]
    [RequireComponent(typeof(ParleyAgent))]
    public sealed class TavernDoors : MonoBehaviour
    {
        private readonly HashSet<string> _open = new HashSet<string>();
        [NonSerialized]
        private ParleyAgent _agent;

        private void OnEnable()
        {
            _agent = GetComponent<ParleyAgent>();
            _agent.ToolCalled += Move;
        }

        private void OnDisable()
        {
            _agent.ToolCalled -= Move;
        }

        private void Move(ToolCall call)
        {
            JToken named = call.Arguments["door"];
            string door = named != null && named.Type == JTokenType.String ? (string)named : "";
            if (door != "cellar" && door != "back")
            {
                call.Fail("There is no such door.");
            }
            else if (call.Tool == "open_door")
            {
                call.Reply(_open.Add(door) ? "The " + door + " door is open." : "The " + door + " door is open already.");
            }
            else
            {
                call.Reply(_open.Remove(door) ? "The " + door + " door is closed." : "The " + door + " door is closed already.");
            }
        }
    }
}
