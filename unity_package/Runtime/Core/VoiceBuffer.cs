// What a character says aloud, between the frames that bring it and the audio thread that plays it.
using System;
using System.Collections.Generic;
using System.Threading;
using Parley.Messages;

namespace Parley
{
    /// <summary>The sound of one spoken step: numbered chunks go in, samples come out, each once and in order.</summary>
    /// <remarks>
    /// Nothing is played until there is a lead of some length, or all has come; where the sound comes too slowly there is
    /// silence until there is a lead again, rather than many short holes. A chunk that came already is dropped; one
    /// that comes before its turn is kept back, and what is missing for too long is taken for lost: a short silence stands
    /// in its place.
    /// Threading: one thread writes (the game's), one reads (the audio thread's). Reading takes no lock and allocates
    /// nothing.
    /// </remarks>
    public sealed class VoiceBuffer
    {
        private const int BlockSamples = 4096;
        private const int EnvelopeMilliseconds = 20;
        private const int GapMilliseconds = 100;
        private const int RunsKept = 64;

        private static readonly List<double> Silent = new List<double>();

        private sealed class Block
        {
            public readonly float[] Samples = new float[BlockSamples];
            public Block Next;
        }

        private struct Early
        {
            public AudioChunk Chunk;
            public byte[] Samples;
        }

        /// <summary>How loud a chunk is, span after span.</summary>
        private struct Spans
        {
            public long From;
            public List<double> Loudness;
        }

        // The writer's.
        private readonly Dictionary<long, Early> _early = new Dictionary<long, Early>();
        private readonly List<Spans> _envelope = new List<Spans>();
        private readonly Queue<VoiceSentence> _sentences = new Queue<VoiceSentence>();
        private readonly int _maxHeldSamples;
        private readonly int _envelopeSamples;
        private readonly int _gapSamples;
        private Block _first;
        private Block _writeBlock;
        private Block _spare;
        private long _firstNumber;
        private int _writeAt;
        private long _nextIndex;
        private int _heldSamples;
        private int _halfSample = -1;

        // The reader's.
        private Block _readBlock;
        private int _readAt;
        private bool _isPlaying;

        // Both threads'.
        private readonly int _leadSamples;
        private long _written;
        private long _read;
        private long _position;
        private long _endsAt = -1;
        private int _underruns;
        private int _isComplete;
        private int _isStopped;
        private readonly long[] _runPositions = new long[RunsKept];
        private readonly long[] _runSamples = new long[RunsKept];
        private int _runs;

        /// <summary>A buffer for one spoken step.</summary>
        /// <param name="sampleRate">As AudioFormat says.</param>
        /// <param name="channels">As AudioFormat says; samples of one moment stand beside each other.</param>
        /// <param name="leadSeconds">So much must be there before anything is heard.</param>
        /// <param name="maxHeldSeconds">So much may wait for a chunk that is missing; then it is taken for lost.</param>
        public VoiceBuffer(long sampleRate, long channels, double leadSeconds, double maxHeldSeconds)
        {
            if (sampleRate < 1000 || sampleRate > 384000)
            {
                throw new ArgumentOutOfRangeException("sampleRate", "a voice has 1,000 to 384,000 samples a second");
            }
            if (channels < 1 || channels > 8)
            {
                throw new ArgumentOutOfRangeException("channels", "a voice has 1 to 8 channels");
            }
            SampleRate = (int)sampleRate;
            Channels = (int)channels;
            _leadSamples = (int)(Math.Max(0, Math.Min(leadSeconds, 10)) * SampleRate) * Channels;
            _maxHeldSamples = (int)(Math.Max(0, Math.Min(maxHeldSeconds, 10)) * SampleRate) * Channels;
            _envelopeSamples = SampleRate * EnvelopeMilliseconds / 1000 * Channels;
            _gapSamples = SampleRate * GapMilliseconds / 1000 * Channels;
            _first = _writeBlock = _readBlock = new Block();
        }

        /// <summary>Samples a second, of each channel.</summary>
        public int SampleRate { get; private set; }

        /// <summary>Samples of one moment.</summary>
        public int Channels { get; private set; }

        /// <summary>Samples that came, with the silence in the place of what was lost. Any thread.</summary>
        public long Written
        {
            get { return Interlocked.Read(ref _written); }
        }

        /// <summary>Samples of the voice that were read. Any thread.</summary>
        public long SamplesRead
        {
            get { return Interlocked.Read(ref _read); }
        }

        /// <summary>Samples that were read, silence included. Any thread.</summary>
        public long Position
        {
            get { return Interlocked.Read(ref _position); }
        }

        /// <summary>The <see cref="Position"/> behind the last sample of the voice; -1: it is not read yet. Any thread.</summary>
        public long EndsAt
        {
            get { return Interlocked.Read(ref _endsAt); }
        }

        /// <summary>How often the sound came too slowly. Any thread.</summary>
        public int Underruns
        {
            get { return Volatile.Read(ref _underruns); }
        }

        /// <summary>Chunks that came twice and were dropped.</summary>
        public int Doubled { get; private set; }

        /// <summary>Chunks that never came.</summary>
        public long Missing { get; private set; }

        /// <summary>No more will come. Any thread.</summary>
        public bool IsComplete
        {
            get { return Volatile.Read(ref _isComplete) != 0; }
        }

        /// <summary>Stop was called. Any thread.</summary>
        public bool IsStopped
        {
            get { return Volatile.Read(ref _isStopped) != 0; }
        }

        /// <summary>There is enough to begin. Any thread.</summary>
        public bool IsReady
        {
            get { return IsComplete || Written - SamplesRead >= _leadSamples; }
        }

        /// <summary>All has come and was read, or it was stopped. Any thread.</summary>
        public bool IsFinished
        {
            get { return IsStopped || (IsComplete && SamplesRead == Written); }
        }

        /// <summary>A chunk. The writer's thread; both must stay as they are.</summary>
        /// <param name="chunk">What came; Index counts the chunks of the step from 0.</param>
        /// <param name="samples">Its samples, of 16 bits, little end first; null: none.</param>
        /// <returns>False: it came already, or too late.</returns>
        public bool Push(AudioChunk chunk, byte[] samples)
        {
            if (IsStopped || IsComplete)
            {
                return false;
            }
            if (chunk.Index < _nextIndex || _early.ContainsKey(chunk.Index))
            {
                Doubled++;
                return false;
            }
            if (chunk.Index > _nextIndex)
            {
                _early.Add(chunk.Index, new Early { Chunk = chunk, Samples = samples });
                _heldSamples += CountOf(samples);
                if (chunk.IsFinal || _heldSamples > _maxHeldSamples)
                {
                    Release(chunk.IsFinal);
                }
                return true;
            }
            Append(chunk, samples);
            Follow();
            return true;
        }

        /// <summary>No more will come: the turn is over, or the sidecar gave the sound up. The writer's thread.</summary>
        public void Complete()
        {
            if (!IsComplete)
            {
                Release(true);
                Close();
            }
        }

        /// <summary>Be silent from now on. The writer's thread.</summary>
        public void Stop()
        {
            Volatile.Write(ref _isStopped, 1);
            _early.Clear();
        }

        /// <summary>
        /// Fill an array, from a place on, with what is heard next; what there is not is silence. Takes no lock and
        /// allocates nothing. The reader's thread.
        /// </summary>
        /// <returns>How many samples of the voice are in it, from that place on.</returns>
        public int Read(float[] samples, int offset = 0)
        {
            int wanted = samples.Length - offset;
            int got = 0;
            // In this order: who sees that all has come also sees all of it.
            bool isComplete = Volatile.Read(ref _isComplete) != 0;
            long available = Interlocked.Read(ref _written) - _read;
            bool isStopped = Volatile.Read(ref _isStopped) != 0;
            if (isStopped)
            {
                _isPlaying = false;
            }
            else if (!_isPlaying && available > 0 && (isComplete || available >= _leadSamples))
            {
                _isPlaying = true;
                Interlocked.Exchange(ref _runPositions[_runs % RunsKept], _position);
                Interlocked.Exchange(ref _runSamples[_runs % RunsKept], _read);
                Volatile.Write(ref _runs, _runs + 1);
            }
            if (_isPlaying)
            {
                got = (int)Math.Min(available, wanted);
                CopyTo(samples, offset, got);
                if (got < wanted && !isComplete)
                {
                    _isPlaying = false;
                    Volatile.Write(ref _underruns, _underruns + 1);
                }
            }
            Array.Clear(samples, offset + got, wanted - got);
            if (isComplete && !isStopped && got == available && Interlocked.Read(ref _endsAt) < 0)
            {
                Interlocked.Exchange(ref _endsAt, _position + got);
            }
            Interlocked.Exchange(ref _position, _position + wanted);
            return got;
        }

        /// <summary>
        /// How many samples of the voice are over when so many samples, silence included, are: what was read is heard
        /// later. Any thread but the reader's.
        /// </summary>
        /// <param name="position">As <see cref="Position"/> counts; not more than that.</param>
        /// <param name="isSilent">There is silence now: before the voice, in a hole, or behind its end.</param>
        public long SamplesAt(long position, out bool isSilent)
        {
            long until = SamplesRead;
            int runs = Volatile.Read(ref _runs);
            for (int run = runs - 1; run >= 0 && run > runs - RunsKept; run--)
            {
                long from = Interlocked.Read(ref _runPositions[run % RunsKept]);
                long first = Interlocked.Read(ref _runSamples[run % RunsKept]);
                if (from <= position)
                {
                    long at = first + position - from;
                    isSilent = at >= until;
                    return Math.Min(at, until);
                }
                until = first;
            }
            isSilent = true;
            return until;
        }

        /// <summary>
        /// The next sentence that is heard when so many samples of the voice are over. One without sound is heard with
        /// what follows it. The writer's thread.
        /// </summary>
        /// <param name="samples">Samples of the voice that are over.</param>
        /// <param name="isEnd">Those are all, so that what is left is heard too.</param>
        /// <param name="sentence">The sentence; each comes once.</param>
        public bool TryTakeSentence(long samples, bool isEnd, out VoiceSentence sentence)
        {
            bool isHeard = _sentences.Count > 0 && (isEnd || _sentences.Peek().StartsAt < samples);
            sentence = isHeard ? _sentences.Dequeue() : null;
            return isHeard;
        }

        /// <summary>How loud the voice is at one of its samples: root mean square, 0 to 1. The writer's thread.</summary>
        public float LoudnessAt(long sample)
        {
            int first = 0;
            int behind = _envelope.Count;
            while (first < behind)
            {
                int middle = (first + behind) / 2;
                if (_envelope[middle].From <= sample)
                {
                    first = middle + 1;
                }
                else
                {
                    behind = middle;
                }
            }
            if (first == 0)
            {
                return 0f;
            }
            Spans spans = _envelope[first - 1];
            long at = (sample - spans.From) / _envelopeSamples;
            return at < spans.Loudness.Count ? (float)spans.Loudness[(int)at] : 0f;
        }

        private void CopyTo(float[] samples, int offset, int count)
        {
            int done = 0;
            while (done < count)
            {
                if (_readAt == BlockSamples)
                {
                    _readBlock = _readBlock.Next;
                    _readAt = 0;
                }
                int part = Math.Min(count - done, BlockSamples - _readAt);
                Array.Copy(_readBlock.Samples, _readAt, samples, offset + done, part);
                _readAt += part;
                done += part;
            }
            Interlocked.Exchange(ref _read, _read + count);
        }

        /// <summary>What is kept back goes on behind what is missing. Until all has come: as far as need be.</summary>
        private void Release(bool all)
        {
            while (_early.Count > 0 && !IsComplete)
            {
                long next = long.MaxValue;
                foreach (long index in _early.Keys)
                {
                    next = Math.Min(next, index);
                }
                if (next > _nextIndex)
                {
                    Missing += next - _nextIndex;
                    _nextIndex = next;
                    // Half a sample belongs to what is lost.
                    _halfSample = -1;
                    AddSilence();
                }
                Follow();
                if (!all)
                {
                    return;
                }
            }
        }

        private void Follow()
        {
            Early early;
            while (!IsComplete && _early.TryGetValue(_nextIndex, out early))
            {
                _early.Remove(_nextIndex);
                _heldSamples -= CountOf(early.Samples);
                Append(early.Chunk, early.Samples);
            }
        }

        private static int CountOf(byte[] samples)
        {
            return samples == null ? 0 : samples.Length / 2;
        }

        private void AddSilence()
        {
            if (_written == 0)
            {
                return;
            }
            for (int i = 0; i < _gapSamples; i++)
            {
                Add(0);
            }
            _envelope.Add(new Spans { From = _written, Loudness = Silent });
            Interlocked.Exchange(ref _written, _written + _gapSamples);
        }

        private void Append(AudioChunk chunk, byte[] samples)
        {
            _nextIndex++;
            Recycle();
            if (chunk.Text != null)
            {
                _sentences.Enqueue(new VoiceSentence(chunk, _written));
            }
            if (samples != null && samples.Length > 0)
            {
                _envelope.Add(new Spans { From = _written, Loudness = chunk.Envelope });
                Interlocked.Exchange(ref _written, _written + Add(samples));
            }
            if (chunk.IsFinal)
            {
                Close();
            }
        }

        private long Add(byte[] samples)
        {
            long added = 0;
            int at = 0;
            if (_halfSample >= 0)
            {
                Add((short)(_halfSample | (samples[at++] << 8)));
                _halfSample = -1;
                added++;
            }
            for (; at + 1 < samples.Length; at += 2)
            {
                Add((short)(samples[at] | (samples[at + 1] << 8)));
                added++;
            }
            if (at < samples.Length)
            {
                _halfSample = samples[at];
            }
            return added;
        }

        private void Add(short value)
        {
            if (_writeAt == BlockSamples)
            {
                Block block = _spare ?? new Block();
                _spare = block.Next;
                block.Next = null;
                _writeBlock.Next = block;
                _writeBlock = block;
                _writeAt = 0;
            }
            _writeBlock.Samples[_writeAt++] = value / 32768f;
        }

        private void Close()
        {
            _early.Clear();
            Volatile.Write(ref _isComplete, 1);
        }

        /// <summary>Use blocks again that were read; the one behind which the reader goes on stays.</summary>
        private void Recycle()
        {
            long kept = SamplesRead / BlockSamples - 1;
            while (_firstNumber < kept)
            {
                Block block = _first;
                _first = block.Next;
                _firstNumber++;
                block.Next = _spare;
                _spare = block;
            }
        }
    }
}
