// The voice buffer: streams slower, as fast as and faster than they are heard, chunks in any order, and two threads.
using System;
using System.Collections.Generic;
using System.Threading;
using Parley;

namespace PlayerTests
{
    internal static class VoiceTests
    {
        private const int Rate = 24000;
        private const int ChunkSamples = 2400;

        /// <summary>A sample that tells its own number: never 0, so that silence is seen.</summary>
        private static short SampleAt(long number)
        {
            return (short)(number % 30000 + 1);
        }

        private static byte[] Chunk(long first, int count)
        {
            byte[] pcm = new byte[count * 2];
            for (int i = 0; i < count; i++)
            {
                short sample = SampleAt(first + i);
                pcm[2 * i] = (byte)sample;
                pcm[2 * i + 1] = (byte)(sample >> 8);
            }
            return pcm;
        }

        private static VoiceBuffer New(double lead)
        {
            return new VoiceBuffer(Rate, 1, lead, 0.5);
        }

        /// <summary>Notes what is heard, sample by sample, and that silence is only where it may be.</summary>
        private sealed class Ear
        {
            internal long Next;
            internal int Holes;
            internal long Silent;
            private bool _wasSilent = true;

            internal void Hear(float[] samples)
            {
                foreach (float sample in samples)
                {
                    if (sample == 0f)
                    {
                        Silent++;
                        if (!_wasSilent)
                        {
                            Holes++;
                        }
                        _wasSilent = true;
                        continue;
                    }
                    _wasSilent = false;
                    int heard = (int)Math.Round(sample * 32768f);
                    if (heard != SampleAt(Next))
                    {
                        throw new Failed("sample " + Next + " should be " + SampleAt(Next) + ", heard " + heard);
                    }
                    Next++;
                }
            }
        }

        /// <summary>A voice of some seconds at some speed, played in steps of 20 ms of a made-up clock.</summary>
        private static VoiceBuffer Play(double speed, double lead, Ear ear)
        {
            VoiceBuffer buffer = New(lead);
            const int Chunks = 50;
            float[] output = new float[480];
            int pushed = 0;
            double made = 0;
            for (int step = 0; step < 3000 && !buffer.IsFinished; step++)
            {
                made += 480 * speed;
                while (pushed < Chunks && made >= (pushed + 1) * ChunkSamples)
                {
                    buffer.Push(pushed, Chunk((long)pushed * ChunkSamples, ChunkSamples), pushed == Chunks - 1);
                    pushed++;
                }
                buffer.Read(output);
                ear.Hear(output);
            }
            Check.That(buffer.IsFinished, "all is heard in time");
            Check.Equal((long)Chunks * ChunkSamples, ear.Next, "samples");
            return buffer;
        }

        [Test]
        private static void SlowVoicesHaveFewHoles()
        {
            Ear ear = new Ear();
            VoiceBuffer buffer = Play(0.7, 0.4, ear);
            // 5 s of voice come in 7.1 s: each lead of 0.4 s is used up after 1.3 s, so there are about five holes.
            Check.That(buffer.Underruns >= 3 && buffer.Underruns <= 8, "holes: " + buffer.Underruns);
            Check.That(ear.Holes <= buffer.Underruns + 1, "every hole is a lead long");
        }

        [Test]
        private static void VoicesInTimeHaveNone()
        {
            Ear ear = new Ear();
            VoiceBuffer buffer = Play(1.0, 0.25, ear);
            Check.Equal(0, buffer.Underruns, "holes");
            Check.Equal(buffer.EndsAt, ear.Silent - (buffer.Position - buffer.EndsAt) + ear.Next, "where it ends");
        }

        [Test]
        private static void FastVoicesHaveNone()
        {
            Ear ear = new Ear();
            VoiceBuffer buffer = Play(3.0, 0.25, ear);
            Check.Equal(0, buffer.Underruns, "holes");
            Check.That(ear.Silent - (buffer.Position - buffer.EndsAt) < Rate / 2, "it began soon");
        }

        [Test]
        private static void NothingIsHeardBeforeTheLead()
        {
            VoiceBuffer buffer = New(0.25);
            float[] output = new float[480];
            buffer.Push(0, Chunk(0, ChunkSamples), false);
            buffer.Push(1, Chunk(ChunkSamples, ChunkSamples), false);
            Check.That(!buffer.IsReady, "not ready");
            Check.Equal(0, buffer.Read(output), "silence");
            buffer.Push(2, Chunk(2 * ChunkSamples, ChunkSamples), false);
            Check.That(buffer.IsReady, "ready");
            Check.Equal(480, buffer.Read(output), "voice");
        }

        [Test]
        private static void AShortVoiceNeedsNoLead()
        {
            VoiceBuffer buffer = New(10);
            float[] output = new float[480];
            buffer.Push(0, Chunk(0, 100), true);
            Check.That(buffer.IsReady, "ready");
            Check.Equal(100, buffer.Read(output), "all of it");
            Check.Equal(0f, output[100], "and silence");
            Check.Equal(100L, buffer.EndsAt, "where it ends");
            Check.That(buffer.IsFinished, "finished");
        }

        [Test]
        private static void ChunksInAnyOrderAreHeardInTheirs()
        {
            Random random = new Random(7);
            for (int round = 0; round < 50; round++)
            {
                VoiceBuffer buffer = new VoiceBuffer(Rate, 1, 0, 10);
                List<int> order = new List<int>();
                for (int i = 0; i < 20; i++)
                {
                    order.Insert(random.Next(order.Count + 1), i);
                }
                // The one that says that it is the last comes last, or what is not there yet is taken for lost.
                order.Remove(19);
                order.Add(19);
                foreach (int index in order)
                {
                    buffer.Push(index, Chunk(index * 77L, 77), index == 19);
                    Check.Equal(false, buffer.Push(index, Chunk(index * 77L, 77), false), "a chunk that came");
                }
                Check.Equal(19, buffer.Doubled, "doubled while it was open");
                Check.Equal(0, buffer.Missing, "missing");
                Ear ear = new Ear();
                float[] output = new float[2000];
                buffer.Read(output);
                ear.Hear(output);
                Check.Equal(20L * 77, ear.Next, "samples");
            }
        }

        [Test]
        private static void WhatIsMissingForLongIsLost()
        {
            VoiceBuffer buffer = new VoiceBuffer(Rate, 1, 0, 0.25);
            buffer.Push(0, Chunk(0, ChunkSamples), false);
            buffer.Push(2, Chunk(2 * ChunkSamples, ChunkSamples), false);
            buffer.Push(3, Chunk(3 * ChunkSamples, ChunkSamples), false);
            Check.Equal((long)ChunkSamples, buffer.Written, "it waits");
            buffer.Push(4, Chunk(4 * ChunkSamples, ChunkSamples), false);
            Check.Equal(4L * ChunkSamples, buffer.Written, "it goes on");
            Check.Equal(1, buffer.Missing, "missing");
            Check.That(!buffer.Push(1, Chunk(ChunkSamples, ChunkSamples), false), "too late");
            buffer.Push(7, Chunk(0, 10), true);
            Check.That(buffer.IsComplete, "the last one waits for nobody");
            Check.Equal(3, buffer.Missing, "missing at the end");
        }

        [Test]
        private static void CompleteTakesWhatIsThere()
        {
            VoiceBuffer buffer = New(0.25);
            buffer.Push(1, Chunk(0, 50), false);
            buffer.Complete();
            Check.Equal(50L, buffer.Written, "samples");
            Check.That(!buffer.Push(2, Chunk(0, 50), false), "nothing more");
            VoiceBuffer empty = New(0.25);
            empty.Complete();
            Check.That(empty.IsFinished, "nothing to hear");
        }

        [Test]
        private static void StopIsSilence()
        {
            VoiceBuffer buffer = New(0);
            float[] output = new float[480];
            buffer.Push(0, Chunk(0, ChunkSamples), false);
            Check.Equal(480, buffer.Read(output), "voice");
            buffer.Stop();
            Check.Equal(0, buffer.Read(output), "silence");
            Check.Equal(0f, output[0], "really");
            Check.That(!buffer.Push(1, Chunk(0, 10), true), "nothing more");
            Check.That(buffer.IsFinished, "finished");
        }

        [Test]
        private static void SamplesMayBeCutAnywhere()
        {
            byte[] pcm = Chunk(0, 1000);
            Random random = new Random(3);
            VoiceBuffer buffer = New(0);
            int index = 0;
            for (int at = 0; at < pcm.Length;)
            {
                int count = Math.Min(random.Next(0, 8), pcm.Length - at);
                buffer.Push(index++, pcm, at, count, at + count == pcm.Length);
                at += count;
            }
            float[] output = new float[1001];
            Ear ear = new Ear();
            Check.Equal(1000, buffer.Read(output), "samples");
            ear.Hear(output);
            Check.Equal(1000L, ear.Next, "heard");
        }

        [Test]
        private static void LoudnessFollowsTheVoice()
        {
            VoiceBuffer buffer = New(0);
            byte[] loud = new byte[2 * 480];
            for (int i = 0; i < 480; i++)
            {
                loud[2 * i + 1] = 0x40;
            }
            buffer.Push(0, new byte[2 * 480], false);
            buffer.Push(1, loud, true);
            Check.Equal(0f, buffer.LoudnessAt(10), "silence");
            Check.Equal(0.5f, buffer.LoudnessAt(500), "half");
            Check.Equal(0f, buffer.LoudnessAt(5000), "behind the end");
            Check.Equal(0f, buffer.LoudnessAt(-1), "before the beginning");
        }

        [Test]
        private static void BadFormatsAreRefused()
        {
            Check.Throws<ArgumentOutOfRangeException>(delegate { new VoiceBuffer(0, 1, 0, 0).Stop(); }, "rate");
            Check.Throws<ArgumentOutOfRangeException>(delegate { new VoiceBuffer(Rate, 0, 0, 0).Stop(); }, "channels");
        }

        [Test]
        private static void ReadingAllocatesNothing()
        {
            VoiceBuffer buffer = New(0);
            for (int i = 0; i < 40; i++)
            {
                buffer.Push(i, Chunk(0, ChunkSamples), false);
            }
            float[] output = new float[1024];
            Check.Equal(0L, Check.Allocated(delegate { buffer.Read(output); }), "bytes");
            Check.Equal(0L, Check.Allocated(delegate { for (int i = 0; i < 100; i++) { buffer.Read(output); } }), "bytes");
        }

        [Test]
        private static void LongVoicesUseTheirBlocksAgain()
        {
            VoiceBuffer buffer = New(0);
            float[] output = new float[ChunkSamples];
            byte[] chunk = Chunk(0, ChunkSamples);
            int index = 0;
            Action second = delegate
            {
                for (int i = 0; i < 10; i++)
                {
                    buffer.Push(index++, chunk, false);
                    buffer.Read(output);
                }
            };
            for (int i = 0; i < 10; i++)
            {
                second();
            }
            long bytes = Check.Allocated(second);
            Check.That(bytes < 1024, "bytes for a second of voice: " + bytes);
        }

        [Test]
        private static void TwoThreadsLoseAndDoubleNothing()
        {
            const int Chunks = 3000;
            VoiceBuffer buffer = New(0.1);
            Ear ear = new Ear();
            Exception fault = null;
            Thread reader = new Thread(delegate()
            {
                try
                {
                    Random random = new Random(1);
                    float[][] outputs = { new float[64], new float[480], new float[1024], new float[4096], new float[9000] };
                    while (!buffer.IsFinished)
                    {
                        float[] output = outputs[random.Next(outputs.Length)];
                        buffer.Read(output);
                        ear.Hear(output);
                        if (random.Next(50) == 0)
                        {
                            Thread.Yield();
                        }
                    }
                }
                catch (Exception caught)
                {
                    fault = caught;
                }
            });
            reader.Start();
            long at = 0;
            Random sizes = new Random(2);
            for (int i = 0; i < Chunks; i++)
            {
                int count = sizes.Next(1, 700);
                buffer.Push(i, Chunk(at, count), i == Chunks - 1);
                at += count;
                if (sizes.Next(20) == 0)
                {
                    Thread.Yield();
                }
            }
            Check.That(reader.Join(20000), "the reader comes to an end");
            Check.Equal(null, fault, "the reader");
            Check.Equal(at, ear.Next, "samples");
        }
    }
}
