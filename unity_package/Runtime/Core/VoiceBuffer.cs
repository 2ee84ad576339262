// What a character says aloud, between the frames that bring it and the audio thread that plays it.
using System;
using System.Collections.Generic;
using System.Threading;

namespace Parley
{
    /// <summary>The sound of one spoken step: numbered chunks go in, samples come out, each once and in order.</summary>
    /// <remarks>
    /// Nothing is played until there is a lead of some length, or all has come; where the sound comes too slowly there is
    /// silence until there is a lead again, rather than many short holes. A chunk that came already is dropped; one
    /// that comes before its turn is kept back, and what is missing for too long is taken for lost.
    /// Threading: one thread writes (the game's), one reads (the audio thread's). <see cref="Read"/> takes no lock and
    /// allocates nothing.
    /// </remarks>
    public sealed class VoiceBuffer
    {
        private const int BlockSamples = 4096;
        private const int EnvelopeMilliseconds = 20;

        private sealed class Block
        {
            public readonly float[] Samples = new float[BlockSamples];
            public Block Next;
        }

        private sealed class Chunk
        {
            public byte[] Pcm;
            public int Offset;
            public int Count;
            public bool IsFinal;
        }

        // The writer's.
        private readonly Dictionary<int, Chunk> _early = new Dictionary<int, Chunk>();
        private readonly List<float> _envelope = new List<float>();
        private readonly int _maxHeldSamples;
        private readonly int _envelopeSamples;
        private Block _first;
        private Block _writeBlock;
        private Block _spare;
        private long _firstNumber;
        private int _writeAt;
        private int _nextIndex;
        private int _heldSamples;
        private int _halfSample = -1;
        private double _energy;
        private int _energySamples;

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

        /// <summary>A buffer for one spoken step.</summary>
        /// <param name="sampleRate">As AudioFormat says.</param>
        /// <param name="channels">As AudioFormat says; samples of one moment stand beside each other.</param>
        /// <param name="leadSeconds">So much must be there before anything is heard.</param>
        /// <param name="maxHeldSeconds">So much may wait for a chunk that is missing; then it is taken for lost.</param>
        public VoiceBuffer(int sampleRate, int channels, double leadSeconds, double maxHeldSeconds)
        {
            if (sampleRate < 1000 || sampleRate > 384000)
            {
                throw new ArgumentOutOfRangeException("sampleRate", "a voice has 1,000 to 384,000 samples a second");
            }
            if (channels < 1 || channels > 8)
            {
                throw new ArgumentOutOfRangeException("channels", "a voice has 1 to 8 channels");
            }
            SampleRate = sampleRate;
            Channels = channels;
            _leadSamples = (int)(Math.Max(0, Math.Min(leadSeconds, 10)) * sampleRate) * channels;
            _maxHeldSamples = (int)(Math.Max(0, Math.Min(maxHeldSeconds, 10)) * sampleRate) * channels;
            _envelopeSamples = sampleRate * EnvelopeMilliseconds / 1000 * channels;
            _first = _writeBlock = _readBlock = new Block();
        }

        /// <summary>Samples a second, of each channel.</summary>
        public int SampleRate { get; private set; }

        /// <summary>Samples of one moment.</summary>
        public int Channels { get; private set; }

        /// <summary>Samples that came. Any thread.</summary>
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
        public int Missing { get; private set; }

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

        /// <summary>A chunk as an AudioChunk brings it. The writer's thread; the array must stay as it is.</summary>
        /// <param name="index">Counts the chunks of the step from 0.</param>
        /// <param name="pcm">Samples of 16 bits, little end first; null: none.</param>
        /// <param name="isFinal">It is the last one.</param>
        /// <returns>False: it came already, or too late.</returns>
        public bool Push(int index, byte[] pcm, bool isFinal)
        {
            return Push(index, pcm, 0, pcm == null ? 0 : pcm.Length, isFinal);
        }

        /// <summary>The same with a part of an array.</summary>
        public bool Push(int index, byte[] pcm, int offset, int count, bool isFinal)
        {
            if (IsStopped || IsComplete)
            {
                return false;
            }
            if (index < _nextIndex || _early.ContainsKey(index))
            {
                Doubled++;
                return false;
            }
            if (index > _nextIndex)
            {
                _early.Add(index, new Chunk { Pcm = pcm, Offset = offset, Count = count, IsFinal = isFinal });
                _heldSamples += count / 2;
                if (isFinal || _heldSamples > _maxHeldSamples)
                {
                    Release(isFinal);
                }
                return true;
            }
            Append(pcm, offset, count, isFinal);
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
        /// Fill an array with what is heard next; what there is not is silence. Takes no lock and allocates nothing.
        /// The reader's thread.
        /// </summary>
        /// <returns>How many samples of the voice are in it, from its beginning.</returns>
        public int Read(float[] samples)
        {
            int wanted = samples.Length;
            int got = 0;
            // In this order: who sees that all has come also sees all of it.
            bool isComplete = Volatile.Read(ref _isComplete) != 0;
            long available = Interlocked.Read(ref _written) - _read;
            bool isStopped = Volatile.Read(ref _isStopped) != 0;
            if (isStopped)
            {
                _isPlaying = false;
            }
            else if (!_isPlaying)
            {
                _isPlaying = available > 0 && (isComplete || available >= _leadSamples);
            }
            if (_isPlaying)
            {
                got = (int)Math.Min(available, wanted);
                CopyTo(samples, got);
                if (got < wanted && !isComplete)
                {
                    _isPlaying = false;
                    Volatile.Write(ref _underruns, _underruns + 1);
                }
            }
            Array.Clear(samples, got, wanted - got);
            if (isComplete && !isStopped && got == available && Interlocked.Read(ref _endsAt) < 0)
            {
                Interlocked.Exchange(ref _endsAt, _position + got);
            }
            Interlocked.Exchange(ref _position, _position + wanted);
            return got;
        }

        /// <summary>How loud the voice is at one of its samples: root mean square, 0 to 1. The writer's thread.</summary>
        public float LoudnessAt(long sample)
        {
            long at = sample < 0 ? -1 : sample / _envelopeSamples;
            return at < 0 || at >= _envelope.Count ? 0f : _envelope[(int)at];
        }

        private void CopyTo(float[] samples, int count)
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
                Array.Copy(_readBlock.Samples, _readAt, samples, done, part);
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
                int next = int.MaxValue;
                foreach (int index in _early.Keys)
                {
                    next = Math.Min(next, index);
                }
                Missing += next - _nextIndex;
                _nextIndex = next;
                // Half a sample belongs to what is lost.
                _halfSample = -1;
                Follow();
                if (!all)
                {
                    return;
                }
            }
        }

        private void Follow()
        {
            Chunk chunk;
            while (!IsComplete && _early.TryGetValue(_nextIndex, out chunk))
            {
                _early.Remove(_nextIndex);
                _heldSamples -= chunk.Count / 2;
                Append(chunk.Pcm, chunk.Offset, chunk.Count, chunk.IsFinal);
            }
        }

        private void Append(byte[] pcm, int offset, int count, bool isFinal)
        {
            _nextIndex++;
            Recycle();
            long added = 0;
            int at = offset;
            int end = offset + count;
            if (_halfSample >= 0 && count > 0)
            {
                Add((short)(_halfSample | (pcm[at++] << 8)));
                _halfSample = -1;
                added++;
            }
            for (; at + 1 < end; at += 2)
            {
                Add((short)(pcm[at] | (pcm[at + 1] << 8)));
                added++;
            }
            if (at < end)
            {
                _halfSample = pcm[at];
            }
            Interlocked.Exchange(ref _written, _written + added);
            if (isFinal)
            {
                Close();
            }
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
            float sample = value / 32768f;
            _writeBlock.Samples[_writeAt++] = sample;
            _energy += sample * sample;
            if (++_energySamples == _envelopeSamples)
            {
                CloseEnvelope();
            }
        }

        private void CloseEnvelope()
        {
            if (_energySamples > 0)
            {
                _envelope.Add((float)Math.Sqrt(_energy / _energySamples));
            }
            _energy = 0;
            _energySamples = 0;
        }

        private void Close()
        {
            CloseEnvelope();
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
