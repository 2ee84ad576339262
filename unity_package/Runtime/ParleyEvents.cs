// The events that components show in the Inspector: Unity draws only those that are classes of their own.
using System;
using Parley.Messages;
using UnityEngine.Events;

namespace Parley
{
    /// <summary>An event with a text.</summary>
    [Serializable]
    public sealed class TextEvent : UnityEvent<string>
    {
    }

    /// <summary>An event with an error.</summary>
    [Serializable]
    public sealed class ErrorEvent : UnityEvent<ParleyException>
    {
    }

    /// <summary>Speaker (the node's name), what it says with this frame, and whether it says nothing more.</summary>
    [Serializable]
    public sealed class AnswerEvent : UnityEvent<string, string, bool>
    {
    }

    /// <summary>The end of a turn.</summary>
    [Serializable]
    public sealed class TurnEvent : UnityEvent<TurnComplete>
    {
    }

    /// <summary>A tool that a model calls.</summary>
    [Serializable]
    public sealed class ToolEvent : UnityEvent<ToolCall>
    {
    }

    /// <summary>The node that speaks, and the sentence that begins to be heard.</summary>
    [Serializable]
    public sealed class SentenceEvent : UnityEvent<string, string>
    {
    }

    /// <summary>The node that speaks, and how loud it is now, 0 to 1.</summary>
    [Serializable]
    public sealed class LoudnessEvent : UnityEvent<string, float>
    {
    }

    /// <summary>The node that speaks, and how often its line had a hole by now.</summary>
    [Serializable]
    public sealed class UnderrunEvent : UnityEvent<string, int>
    {
    }

    /// <summary>The name to show, the text to show now, and whether that is all of the line.</summary>
    [Serializable]
    public sealed class LineEvent : UnityEvent<string, string, bool>
    {
    }
}
