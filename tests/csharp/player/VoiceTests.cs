// The voice buffer: streams slower, as fast as and faster than they are heard, chunks in any order, and two threads.
using System;
using System.Collections.Generic;
using System.Threading;
using Parley;
using Parley.Messages;

namespace PlayerTests
{
    internal static class VoiceTests
    {
        private const int Rate = 24000;
        private const int ChunkSamples = 2400;
        private const int GapSamples = 2400;

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

        private static bool Push(VoiceBuffer buffer, long index, byte[] samples, bool isFinal)
        {
            return buffer.Push(new AudioChunk { Index = index, IsFinal = isFinal }, samples);
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
                    Push(buffer, pushed, Chunk((long)pushed * ChunkSamples, ChunkSamples), pushed == Chunks - 1);
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
            Push(buffer, 0, Chunk(0, ChunkSamples), false);
            Push(buffer, 1, Chunk(ChunkSamples, ChunkSamples), false);
            Check.That(!buffer.IsReady, "not ready");
            Check.Equal(0, buffer.Read(output), "silence");
            Push(buffer, 2, Chunk(2 * ChunkSamples, ChunkSamples), false);
            Check.That(buffer.IsReady, "ready");
            Check.Equal(480, buffer.Read(output), "voice");
        }

        [Test]
        private static void AShortVoiceNeedsNoLead()
        {
            VoiceBuffer buffer = New(10);
            float[] output = new float[480];
            Push(buffer, 0, Chunk(0, 100), true);
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
                    Push(buffer, index, Chunk(index * 77L, 77), index == 19);
                    Check.Equal(false, Push(buffer, index, Chunk(index * 77L, 77), false), "a chunk that came");
                }
                Check.Equal(19, buffer.Doubled, "doubled while it was open");
                Check.Equal(0L, buffer.Missing, "missing");
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
            Push(buffer, 0, Chunk(0, ChunkSamples), false);
            Push(buffer, 2, Chunk(2 * ChunkSamples, ChunkSamples), false);
            Push(buffer, 3, Chunk(3 * ChunkSamples, ChunkSamples), false);
            Check.Equal((long)ChunkSamples, buffer.Written, "it waits");
            Push(buffer, 4, Chunk(4 * ChunkSamples, ChunkSamples), false);
            Check.Equal(4L * ChunkSamples + GapSamples, buffer.Written, "it goes on behind a short silence");
            Check.Equal(1L, buffer.Missing, "missing");
            Check.That(!Push(buffer, 1, Chunk(ChunkSamples, ChunkSamples), false), "too late");
            Push(buffer, 7, Chunk(0, 10), true);
            Check.That(buffer.IsComplete, "the last one waits for nobody");
            Check.Equal(3L, buffer.Missing, "missing at the end");
        }

        [Test]
        private static void CompleteTakesWhatIsThere()
        {
            VoiceBuffer buffer = New(0.25);
            Push(buffer, 1, Chunk(0, 50), false);
            buffer.Complete();
            Check.Equal(50L, buffer.Written, "samples");
            Check.That(!Push(buffer, 2, Chunk(0, 50), false), "nothing more");
            VoiceBuffer empty = New(0.25);
            empty.Complete();
            Check.That(empty.IsFinished, "nothing to hear");
        }

        [Test]
        private static void StopIsSilence()
        {
            VoiceBuffer buffer = New(0);
            float[] output = new float[480];
            Push(buffer, 0, Chunk(0, ChunkSamples), false);
            Check.Equal(480, buffer.Read(output), "voice");
            buffer.Stop();
            Check.Equal(0, buffer.Read(output), "silence");
            Check.Equal(0f, output[0], "really");
            Check.That(!Push(buffer, 1, Chunk(0, 10), true), "nothing more");
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
                byte[] part = new byte[count];
                Array.Copy(pcm, at, part, 0, count);
                Push(buffer, index++, part, at + count == pcm.Length);
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
            List<double> envelope = new List<double> { 0, 0.5, 0.25 };
            buffer.Push(new AudioChunk { Index = 0, Envelope = envelope }, new byte[2 * 1000]);
            buffer.Push(new AudioChunk { Index = 1, Envelope = new List<double> { 1 }, IsFinal = true }, new byte[2 * 10]);
            Check.Equal(0f, buffer.LoudnessAt(10), "silence");
            Check.Equal(0.5f, buffer.LoudnessAt(480), "half");
            Check.Equal(0.25f, buffer.LoudnessAt(999), "a span that is shorter");
            Check.Equal(1f, buffer.LoudnessAt(1000), "spans begin with each chunk");
            Check.Equal(0f, buffer.LoudnessAt(5000), "behind the end");
            Check.Equal(0f, buffer.LoudnessAt(-1), "before the beginning");
        }

        [Test]
        private static void WhereChunksAreLostThereIsAShortSilence()
        {
            VoiceBuffer buffer = new VoiceBuffer(Rate, 1, 0, 0);
            Push(buffer, 2, Chunk(0, 500), false);
            Check.Equal(500L, buffer.Written, "none before the first that came");
            buffer.Push(new AudioChunk { Index = 5, IsFinal = true, Envelope = new List<double> { 0.5 } }, Chunk(500, 300));
            Check.Equal(500L + GapSamples + 300, buffer.Written, "all");
            Check.Equal(4L, buffer.Missing, "missing");
            float[] output = new float[500 + GapSamples + 300];
            buffer.Read(output);
            Ear ear = new Ear();
            ear.Hear(output);
            Check.Equal(800L, ear.Next, "samples");
            Check.Equal((long)GapSamples, ear.Silent, "silence");
            Check.Equal(1, ear.Holes, "one");
            Check.Equal(0f, buffer.LoudnessAt(500), "loudness of the silence");
            Check.Equal(0.5f, buffer.LoudnessAt(500 + GapSamples), "loudness behind it");
        }

        [Test]
        private static void WhatIsHeardIsToldFromWhatIsRead()
        {
            VoiceBuffer buffer = New(0.25);
            float[] output = new float[3000];
            bool isSilent;
            Check.Equal(0L, buffer.SamplesAt(0, out isSilent), "nothing yet");
            buffer.Read(output);
            Check.Equal(0L, buffer.SamplesAt(2999, out isSilent), "silence at the beginning");
            Check.That(isSilent, "is silence");
            Push(buffer, 0, Chunk(0, 7000), false);
            buffer.Read(output);
            buffer.Read(output);
            buffer.Read(output);
            Check.Equal(0L, buffer.SamplesAt(2999, out isSilent), "still");
            Check.Equal(0L, buffer.SamplesAt(3000, out isSilent), "the first sample");
            Check.That(!isSilent, "is heard");
            Check.Equal(6999L, buffer.SamplesAt(9999, out isSilent), "the last one before the hole");
            Check.That(!isSilent, "is heard too");
            Check.Equal(7000L, buffer.SamplesAt(10000, out isSilent), "the hole");
            Check.That(isSilent, "is silence too");
            Push(buffer, 1, Chunk(7000, 6000), true);
            buffer.Read(output);
            buffer.Read(output);
            Check.Equal(7000L, buffer.SamplesAt(11999, out isSilent), "the hole's end");
            Check.That(isSilent, "silent");
            Check.Equal(7001L, buffer.SamplesAt(12001, out isSilent), "it goes on");
            Check.That(!isSilent, "heard");
            Check.Equal(13000L, buffer.SamplesAt(18000, out isSilent), "the end");
            Check.That(isSilent, "and silence");
            Check.Equal(1, buffer.Underruns, "holes");
        }

        [Test]
        private static void ManyHolesAreToldApartAsFarAsNeedBe()
        {
            VoiceBuffer buffer = New(0);
            float[] output = new float[300];
            bool isSilent;
            for (int i = 0; i < 200; i++)
            {
                Push(buffer, i, Chunk(i * 100, 100), false);
                buffer.Read(output);
                Check.Equal(i * 100L, buffer.SamplesAt(i * 300L, out isSilent), "hole " + i);
                Check.Equal(Math.Max(0, i - 60) * 100L + 50, buffer.SamplesAt(Math.Max(0, i - 60) * 300L + 50, out isSilent), "an older one");
            }
            Check.That(buffer.SamplesAt(0, out isSilent) > 0, "what is long past nobody asks for");
            Check.Equal(200, buffer.Underruns, "holes");
        }

        private static void Say(VoiceBuffer buffer, long index, long sentence, string text, int count, bool isFinal)
        {
            buffer.Push(new AudioChunk { Index = index, Sentence = sentence, Text = text, IsFinal = isFinal }, new byte[2 * count]);
        }

        private static string Told(VoiceBuffer buffer, long samples, bool isEnd)
        {
            string told = "";
            VoiceSentence sentence;
            while (buffer.TryTakeSentence(samples, isEnd, out sentence))
            {
                told += sentence.Number + ":" + sentence.Text + "|";
            }
            return told;
        }

        [Test]
        private static void SentencesAreToldWhenTheyAreHeard()
        {
            VoiceBuffer buffer = New(0);
            Say(buffer, 0, 0, "Sit. ", 100, false);
            Say(buffer, 1, 0, null, 100, false);
            Say(buffer, 2, 1, "*sighs* ", 0, false);
            Say(buffer, 3, 2, "Eat! ", 100, false);
            Say(buffer, 4, 3, "🙂", 0, false);
            Say(buffer, 5, 3, null, 0, true);
            Check.Equal("", Told(buffer, 0, false), "nothing is heard");
            Check.Equal("0:Sit. |", Told(buffer, 1, false), "the first sample");
            Check.Equal("", Told(buffer, 200, false), "each once");
            Check.Equal("1:*sighs* |2:Eat! |", Told(buffer, 201, false), "one without sound comes with the next");
            Check.Equal("", Told(buffer, 300, false), "the last sample");
            Check.Equal("3:🙂|", Told(buffer, 300, true), "what is left at the end");
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
                Push(buffer, i, Chunk(0, ChunkSamples), false);
            }
            float[] output = new float[1024];
            bool isSilent;
            Check.Equal(0L, Check.Allocated(delegate { buffer.Read(output); }), "bytes");
            Check.Equal(0L, Check.Allocated(delegate { buffer.Read(output, 1000); }), "bytes of a part");
            Check.Equal(0L, Check.Allocated(delegate { buffer.LoudnessAt(buffer.SamplesAt(1000, out isSilent)); }), "bytes of a look");
            Check.Equal(0L, Check.Allocated(delegate { for (int i = 0; i < 100; i++) { buffer.Read(output); } }), "bytes");
        }

        [Test]
        private static void LongVoicesUseTheirBlocksAgain()
        {
            VoiceBuffer buffer = New(0);
            float[] output = new float[ChunkSamples];
            byte[] chunk = Chunk(0, ChunkSamples);
            AudioChunk message = new AudioChunk { Index = -1 };
            Action second = delegate
            {
                for (int i = 0; i < 10; i++)
                {
                    message.Index++;
                    buffer.Push(message, chunk);
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
                Push(buffer, i, Chunk(at, count), i == Chunks - 1);
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
