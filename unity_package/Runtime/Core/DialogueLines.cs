// What the player reads of a talk: who said what, in order, while it comes.
using System;
using System.Collections.Generic;
using System.Text;

namespace Parley
{
    /// <summary>What one character said in one step of a turn.</summary>
    public sealed class DialogueLine
    {
        private readonly StringBuilder _text = new StringBuilder();
        private string _shown = "";

        internal readonly Typewriter Typewriter;

        internal DialogueLine(int number, object source, long turnId, long step, string speaker, double elementsPerSecond)
        {
            Number = number;
            Source = source;
            TurnId = turnId;
            Step = step;
            Speaker = speaker;
            Typewriter = new Typewriter(elementsPerSecond);
        }

        /// <summary>Counts the lines of a talk from 0; never used twice.</summary>
        public int Number { get; private set; }

        /// <summary>Whose turn it is, as the caller says; null: the player's own line.</summary>
        public object Source { get; private set; }

        /// <summary>The turn; 0: the player's own line.</summary>
        public long TurnId { get; private set; }

        /// <summary>The step of the turn.</summary>
        public long Step { get; private set; }

        /// <summary>The node that speaks; empty: the player.</summary>
        public string Speaker { get; private set; }

        /// <summary>All that came of it.</summary>
        public string Text
        {
            get { return Typewriter.Text; }
        }

        /// <summary>What is to be shown now. The same object until more is shown.</summary>
        public string Shown
        {
            get
            {
                if (_shown.Length != Typewriter.ShownLength
                    || string.CompareOrdinal(_shown, 0, Typewriter.Text, 0, _shown.Length) != 0)
                {
                    _shown = Typewriter.Shown();
                }
                return _shown;
            }
        }

        /// <summary>The character says nothing more.</summary>
        public bool IsFinal
        {
            get { return Typewriter.IsComplete; }
        }

        /// <summary>The character says nothing more, and all is shown.</summary>
        public bool IsDone
        {
            get { return Typewriter.IsDone; }
        }

        /// <summary>It waits for its voice: no more of it is shown than was heard. See DialogueLines.Follow.</summary>
        public bool IsHeld
        {
            get { return Typewriter.Limit != int.MaxValue; }
        }

        /// <summary>Its voice began to speak.</summary>
        internal bool IsVoiced { get; set; }

        /// <summary>So long all of it is there and nothing was heard.</summary>
        internal double WaitedSeconds { get; set; }

        internal void Take(string text, bool isDelta, bool isFinal)
        {
            if (!isDelta)
            {
                _text.Length = 0;
            }
            _text.Append(text);
            Typewriter.Set(_text.ToString(), isFinal);
        }

        internal void End()
        {
            if (!Typewriter.IsComplete)
            {
                Typewriter.Set(Typewriter.Text, true);
            }
        }
    }

    /// <summary>The lines of a talk, shown one after the other, each character by character.</summary>
    /// <remarks>
    /// A line begins to appear when all before it have appeared whole: where two characters speak in one turn, the
    /// second waits for the first, however fast both came. Threading: one thread.
    /// </remarks>
    public sealed class DialogueLines
    {
        private const double VoicePatienceSeconds = 3;

        private readonly List<DialogueLine> _lines = new List<DialogueLine>();
        private int _next;
        private int _made;
        private double _pause;

        /// <summary>Characters a second; 0 or less: at once. For lines to come.</summary>
        public double ElementsPerSecond = 40;

        /// <summary>Seconds between a line that is whole and the next one's first character.</summary>
        public double GapSeconds = 0.3;

        /// <summary>So many lines are kept; the oldest go, once they are shown.</summary>
        public int MaxLines = 200;

        /// <summary>A line begins to appear.</summary>
        public event Action<DialogueLine> Began;

        /// <summary>More of a line is to be shown.</summary>
        public event Action<DialogueLine> Changed;

        /// <summary>All of a line is shown.</summary>
        public event Action<DialogueLine> Done;

        /// <summary>A line is kept no more.</summary>
        public event Action<DialogueLine> Dropped;

        /// <summary>Oldest first; those that have not begun to appear are at the end.</summary>
        public IList<DialogueLine> Lines
        {
            get { return _lines.AsReadOnly(); }
        }

        /// <summary>The line that appears now, or waits for its character to go on; null: none.</summary>
        public DialogueLine Current { get; private set; }

        /// <summary>Nothing appears and nothing waits to.</summary>
        public bool IsIdle
        {
            get { return Current == null && _next == _lines.Count; }
        }

        /// <summary>The player's own line, which appears whole.</summary>
        public DialogueLine Add(string text)
        {
            DialogueLine line = new DialogueLine(_made++, null, 0, 0, "", 0);
            line.Take(text, false, true);
            _lines.Add(line);
            return line;
        }

        /// <summary>A frame of an answer.</summary>
        /// <param name="source">Whose turn it is: turns of several agents may have one number.</param>
        /// <param name="turnId">The turn.</param>
        /// <param name="step">The step of the turn.</param>
        /// <param name="speaker">The node that speaks.</param>
        /// <param name="text">What the frame brings.</param>
        /// <param name="isDelta">True: behind what came before; false: the whole text.</param>
        /// <param name="isFinal">The step says nothing more.</param>
        /// <param name="isHeld">A line that begins with it waits for its voice: call Follow in each frame.</param>
        public void Take(
            object source, long turnId, long step, string speaker, string text, bool isDelta, bool isFinal, bool isHeld = false)
        {
            DialogueLine line = Find(source, turnId, step);
            if (line == null)
            {
                if (isFinal && string.IsNullOrEmpty(text))
                {
                    return;
                }
                line = new DialogueLine(_made++, source, turnId, step, speaker, ElementsPerSecond);
                line.Typewriter.Limit = isHeld ? 0 : int.MaxValue;
                _lines.Add(line);
            }
            line.Take(text, isDelta, isFinal);
        }

        /// <summary>Show as much of a line that is held as is heard of it.</summary>
        /// <param name="line">The line.</param>
        /// <param name="heard">So many UTF-16 units of it; -1: nothing came of its voice yet, or nothing more is to be heard.</param>
        /// <param name="seconds">Since the last call. A line that is there whole does not wait for ever.</param>
        public void Follow(DialogueLine line, int heard, double seconds)
        {
            if (heard >= 0)
            {
                line.IsVoiced = true;
                line.Typewriter.Limit = heard;
                return;
            }
            line.WaitedSeconds += line.IsFinal ? seconds : 0;
            if (line.IsVoiced || line.WaitedSeconds > VoicePatienceSeconds)
            {
                Release(line);
            }
        }

        /// <summary>A line waits for no voice any more.</summary>
        public void Release(DialogueLine line)
        {
            line.Typewriter.Limit = int.MaxValue;
        }

        /// <summary>The turn is over: what it left unfinished stays as it is.</summary>
        public void EndTurn(object source, long turnId)
        {
            for (int i = _lines.Count - 1; i >= 0; i--)
            {
                if (_lines[i].Source == source && _lines[i].TurnId == turnId)
                {
                    _lines[i].End();
                }
            }
        }

        /// <summary>Let time pass, in seconds that the game's time scale does not touch. Allocates nothing when idle.</summary>
        public void Advance(double seconds)
        {
            if (_pause > 0)
            {
                _pause -= Math.Max(0, Math.Min(seconds, Typewriter.LongestStep));
                if (_pause > 0)
                {
                    return;
                }
            }
            while (_pause <= 0)
            {
                if (Current == null && !Begin())
                {
                    return;
                }
                DialogueLine line = Current;
                if (line.Typewriter.Advance(seconds))
                {
                    Tell(Changed, line);
                }
                if (line != Current || !line.IsDone)
                {
                    return;
                }
                Finish(line);
                // What is left of this step is not the next line's.
                seconds = 0;
            }
        }

        /// <summary>
        /// Show the rest of the line that appears now; where it is whole already or there is none, begin the next one
        /// without the pause. False: there was nothing to do.
        /// </summary>
        public bool Skip()
        {
            if (Current == null)
            {
                bool waited = _pause > 0 && _next < _lines.Count;
                _pause = 0;
                return Begin() || waited;
            }
            DialogueLine line = Current;
            bool more = line.Typewriter.SkipToEnd();
            if (more)
            {
                Tell(Changed, line);
            }
            if (line == Current && line.IsDone)
            {
                Finish(line);
                return true;
            }
            return more;
        }

        /// <summary>Show all that came so far, of all lines.</summary>
        public void SkipToEnd()
        {
            while (true)
            {
                _pause = 0;
                if (Current == null && !Begin())
                {
                    return;
                }
                DialogueLine line = Current;
                Skip();
                if (Current == line)
                {
                    return;
                }
            }
        }

        /// <summary>Forget everything.</summary>
        public void Clear()
        {
            List<DialogueLine> gone = new List<DialogueLine>(_lines);
            _lines.Clear();
            _next = 0;
            _pause = 0;
            Current = null;
            foreach (DialogueLine line in gone)
            {
                Tell(Dropped, line);
            }
        }

        private DialogueLine Find(object source, long turnId, long step)
        {
            for (int i = _lines.Count - 1; i >= 0; i--)
            {
                DialogueLine line = _lines[i];
                if (line.Source == source && line.TurnId == turnId && line.Step == step && !line.IsFinal)
                {
                    return line;
                }
            }
            return null;
        }

        private bool Begin()
        {
            if (_next >= _lines.Count)
            {
                return false;
            }
            Current = _lines[_next++];
            Tell(Began, Current);
            return Current != null;
        }

        private void Finish(DialogueLine line)
        {
            Current = null;
            _pause = line.Typewriter.ElementsPerSecond > 0 ? GapSeconds : 0;
            Tell(Done, line);
            while (_lines.Count > MaxLines && _next > 0 && _lines[0] != Current)
            {
                DialogueLine oldest = _lines[0];
                _lines.RemoveAt(0);
                _next--;
                Tell(Dropped, oldest);
            }
        }

        private static void Tell(Action<DialogueLine> told, DialogueLine line)
        {
            if (told != null)
            {
                told(line);
            }
        }
    }
}
