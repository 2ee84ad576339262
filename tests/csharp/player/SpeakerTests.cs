// ParleyVoice: streaming clips over a loudspeaker that reads ahead of what is heard, as the engine's does.
using System;
using System.Collections.Generic;
using System.Reflection;
using Parley;
using Parley.Messages;
using UnityEngine;

namespace PlayerTests
{
    /// <summary>Plays what an AudioSource plays, and notes every sample that is not silence.</summary>
    internal sealed class FakeSpeaker
    {
        private const int BlockFrames = 1024;
        private const int AheadFrames = 6000;

        internal readonly List<int> Heard = new List<int>();

        /// <summary>Of each clip all samples, silence too.</summary>
        internal readonly List<List<float>> Outputs = new List<List<float>>();
        internal readonly List<AudioClip> Clips = new List<AudioClip>();
        private readonly AudioSource _source;
        private AudioClip _clip;
        private long _read;
        private double _played;

        /// <summary>Read so much when a clip is made, and begin anew when it is played; 0: read it as it is played.</summary>
        internal int AtOnceFrames;

        internal FakeSpeaker(AudioSource source)
        {
            _source = source;
        }

        internal void Step(double seconds)
        {
            if (!_source.isPlaying)
            {
                // What is paused goes on where it was.
                _clip = ReferenceEquals(_source.clip, _clip) ? _clip : null;
                return;
            }
            if (!ReferenceEquals(_source.clip, _clip))
            {
                _clip = _source.clip;
                Clips.Add(_clip);
                Outputs.Add(new List<float>());
                _read = 0;
                _played = 0;
                for (int read = 0; read < AtOnceFrames; read += BlockFrames)
                {
                    _clip.FakeRead(new float[BlockFrames * _clip.channels]);
                }
                _clip.FakeSeek(0);
            }
            _played += seconds * _clip.frequency;
            while (_read < _played + AheadFrames)
            {
                long frames = Math.Min(BlockFrames, _clip.samples - _read % _clip.samples);
                float[] block = new float[frames * _clip.channels];
                _clip.FakeRead(block);
                Outputs[Outputs.Count - 1].AddRange(block);
                _read += frames;
                if (_read % _clip.samples == 0)
                {
                    _clip.FakeSeek(0);
                }
                foreach (float sample in block)
                {
                    if (sample != 0f)
                    {
                        Heard.Add((int)Math.Round(sample * 32768f));
                    }
                }
            }
            Check.That(_source.loop, "a stream goes round and round");
            _source.timeSamples = (int)((long)_played % _clip.samples);
        }
    }

    internal static class SpeakerTests
    {
        private const int Rate = 24000;

        private static ParleyVoice New(string speaker, out FakeSpeaker heard)
        {
            GameObject mouth = new GameObject("Mouth");
            ParleyVoice voice = mouth.AddComponent<ParleyVoice>();
            voice.Speaker = speaker;
            voice.Source = mouth.AddComponent<AudioSource>();
            heard = new FakeSpeaker(voice.Source);
            return voice;
        }

        private static AudioFormat Format(long turn, long step)
        {
            return new AudioFormat { AgentId = "a", TurnId = turn, Step = step, NodeName = "mira", SampleRate = Rate };
        }

        private static AudioChunk Part(long turn, long step, int index, bool isFinal)
        {
            List<double> envelope = new List<double> { 0.5, 0.5, 0.5, 0.5, 0.5 };
            return new AudioChunk { AgentId = "a", TurnId = turn, Step = step, NodeName = "mira", Index = index, IsFinal = isFinal, Envelope = envelope };
        }

        private static byte[] Pcm(int first, int count)
        {
            byte[] pcm = new byte[count * 2];
            for (int i = 0; i < count; i++)
            {
                int sample = (first + i) % 30000 + 1;
                pcm[2 * i] = (byte)sample;
                pcm[2 * i + 1] = (byte)(sample >> 8);
            }
            return pcm;
        }

        private static void CheckHeard(FakeSpeaker heard, int from, int count, string what)
        {
            Check.Equal(from + count, heard.Heard.Count, what + ": samples");
            for (int i = 0; i < count; i++)
            {
                if (heard.Heard[from + i] != i % 30000 + 1)
                {
                    throw new Failed(what + ": sample " + i + " is " + heard.Heard[from + i]);
                }
            }
        }

        /// <summary>A line of so many seconds whose sound comes at some speed. Returns the seconds until it was over.</summary>
        private static double Speak(ParleyVoice voice, FakeSpeaker heard, int seconds, double speed)
        {
            const int ChunkSamples = 2400;
            int chunks = seconds * Rate / ChunkSamples;
            int sent = 0;
            double clock = 0;
            int ended = 0;
            Action<string> note = delegate { ended++; };
            voice.Finished += note;
            voice.Take(Format(1, 1));
            while (ended == 0 && clock < seconds * 4 + 5)
            {
                while (sent < chunks && clock * speed * Rate >= (sent + 1) * ChunkSamples)
                {
                    voice.Take(Part(1, 1, sent, sent == chunks - 1), Pcm(sent * ChunkSamples, ChunkSamples));
                    sent++;
                }
                FakePlayerLoop.Frame(0.016f);
                heard.Step(0.016);
                clock += 0.016;
            }
            voice.Finished -= note;
            Check.Equal(1, ended, "it is over once");
            return clock;
        }

        [Test]
        private static void LinesAreHeardWholeAtAnySpeed()
        {
            foreach (double speed in new[] { 0.7, 1.0, 3.0 })
            {
                FakePlayerLoop.Play();
                FakeSpeaker heard;
                ParleyVoice voice = New("mira", out heard);
                double took = Speak(voice, heard, 4, speed);
                CheckHeard(heard, 0, 4 * Rate, "at " + speed);
                double least = Math.Max(4, 4 / speed);
                Check.That(took >= least && took < least + 1.5, "at " + speed + " it took " + took + " s");
                Check.That(!voice.IsSpeaking && !voice.Source.isPlaying && voice.Source.clip == null, "silent afterwards");
                Check.Equal(0f, voice.Loudness, "loudness afterwards");
                FakePlayerLoop.Stop();
            }
        }

        [Test]
        private static void ALineMayBeLongerThanItsClip()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            double took = Speak(voice, heard, 45, 3.0);
            CheckHeard(heard, 0, 45 * Rate, "all");
            Check.That(took > 45 && took < 46.5, "it took " + took + " s");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AClipThatIsReadWhenItIsMadeLosesNothing()
        {
            foreach (int frames in new[] { 0, 1024, 4096, 12288 })
            {
                FakePlayerLoop.Play();
                FakeSpeaker heard;
                ParleyVoice voice = New("mira", out heard);
                heard.AtOnceFrames = frames;
                Speak(voice, heard, 25, 3.0);
                CheckHeard(heard, 0, 25 * Rate, frames + " at once");
                FakePlayerLoop.Stop();
            }
        }

        /// <summary>A line with more to come, of which something was heard.</summary>
        private static ParleyVoice Speaking(out FakeSpeaker heard, List<string> told)
        {
            FakePlayerLoop.Play();
            ParleyVoice voice = New("mira", out heard);
            voice.Started += delegate { told.Add("began"); };
            voice.Finished += delegate { told.Add("ended"); };
            voice.Take(Format(1, 1));
            voice.Take(Part(1, 1, 0, false), Pcm(0, 4 * Rate));
            voice.Take(Format(2, 1));
            voice.Take(Part(2, 1, 0, true), Pcm(0, Rate));
            Run(heard, 0.5);
            Check.That(voice.IsSpeaking, "it speaks");
            return voice;
        }

        private static void Run(FakeSpeaker heard, double seconds)
        {
            for (double clock = 0; clock < seconds; clock += 0.016)
            {
                FakePlayerLoop.Frame(0.016f);
                heard.Step(0.016);
            }
        }

        [Test]
        private static void ASourceThatIsTakenAwayHoldsNobodyUp()
        {
            List<string> told = new List<string>();
            FakeSpeaker heard;
            ParleyVoice voice = Speaking(out heard, told);
            AudioSource other = new GameObject("Other").AddComponent<AudioSource>();
            AudioSource was = voice.Source;
            was.enabled = false;
            voice.Source = other;
            FakePlayerLoop.Frame(0.016f);
            Check.Texts(told, "a source that is off", "began", "ended", "began");
            Check.That(other.isPlaying, "the next line is heard elsewhere");
            other.Stop();
            Run(heard, 2);
            Check.Texts(told, "a source that is stopped", "began", "ended", "began", "ended");
            FakePlayerLoop.Stop();

            told.Clear();
            voice = Speaking(out heard, told);
            voice.Source.clip = AudioClip.Create("bark", 100, 1, Rate, false, null);
            FakePlayerLoop.Frame(0.016f);
            Check.That(told[1] == "ended", "a source that plays something else");
            FakePlayerLoop.Stop();

            told.Clear();
            voice = Speaking(out heard, told);
            UnityEngine.Object.Destroy(voice.Source);
            FakePlayerLoop.Frame(0.016f);
            FakePlayerLoop.Frame(0.016f);
            Check.That(told[1] == "ended", "a source that is destroyed");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void APauseIsNoEnd()
        {
            List<string> told = new List<string>();
            FakeSpeaker heard;
            ParleyVoice voice = Speaking(out heard, told);
            voice.Take(Part(1, 1, 1, true), null);
            voice.Source.Pause();
            Run(heard, 8);
            Check.Texts(told, "a source that is paused", "began");
            voice.Source.UnPause();
            Run(heard, 3);
            AudioListener.pause = true;
            FakeEngine.TimeScale = 0f;
            Run(heard, 8);
            Check.Texts(told, "a game that is paused", "began");
            AudioListener.pause = false;
            FakeEngine.TimeScale = 1f;
            Run(heard, 4);
            Check.Texts(told, "the end", "began", "ended", "began", "ended");
            CheckHeard(heard, 4 * Rate, Rate, "the second line");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void ALineWhoseEndWasDroppedEnds()
        {
            List<string> told = new List<string>();
            FakeSpeaker heard;
            ParleyVoice voice = Speaking(out heard, told);
            Run(heard, 12);
            Check.Texts(told, "while the turn runs more may come", "began");
            Invoke(voice, "ExpectEnd", 1L);
            Run(heard, 3);
            voice.Take(Part(1, 1, 1, false), Pcm(4 * Rate, 100));
            Run(heard, 4);
            Check.Texts(told, "what is late is waited for", "began");
            Run(heard, 4);
            Check.Texts(told, "then it is over", "began", "ended", "began", "ended");
            CheckHeard(heard, 4 * Rate + 100, Rate, "the next line");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void ALineBeginsOnceItsLeadHasCome()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            int began = 0;
            voice.Started += delegate { began++; };
            voice.LeadSeconds = 0.5f;
            voice.Take(Format(1, 1));
            voice.Take(Part(1, 1, 0, false), Pcm(0, Rate * 4 / 10));
            Run(heard, 1);
            Check.Equal(0, began, "begun with less than its lead");
            voice.Take(Part(1, 1, 1, false), Pcm(Rate * 4 / 10, Rate * 2 / 10));
            Run(heard, 0.1);
            Check.Equal(1, began, "begun with more");
            voice.LeadSeconds = 7f;
            Check.Equal(2f, voice.LeadSeconds, "no more than that");
            voice.LeadSeconds = -1f;
            Check.Equal(0f, voice.LeadSeconds, "nor less than nothing");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void LinesWaitForEachOther()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            List<string> told = new List<string>();
            voice.Started += delegate { told.Add("began"); };
            voice.Finished += delegate { told.Add("ended"); };
            voice.Take(Format(1, 1));
            voice.Take(Format(1, 1));
            voice.Take(Format(1, 2));
            voice.Take(Part(1, 2, 0, true), Pcm(0, Rate));
            FakePlayerLoop.Frame(0.016f);
            Check.Equal(0, told.Count, "the first has not come yet");
            voice.Take(Part(1, 1, 0, false), Pcm(0, Rate));
            voice.Take(Part(1, 1, 0, false), Pcm(0, Rate));
            voice.Take(Part(1, 1, 1, true), null);
            float loudest = 0f;
            for (int i = 0; i < 200; i++)
            {
                FakePlayerLoop.Frame(0.016f);
                heard.Step(0.016);
                loudest = Math.Max(loudest, voice.Loudness);
            }
            Check.Texts(told, "one after the other", "began", "ended", "began", "ended");
            Check.Equal(2, heard.Clips.Count, "clips");
            CheckHeard(heard, Rate, Rate, "the second");
            Check.That(heard.Clips[0] == null && heard.Clips[1] == null, "clips are destroyed");
            Check.That(loudest > 0.3f && loudest <= 1f, "loudness " + loudest);
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void StopAndCancelAreSilence()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            voice.Take(Format(1, 1));
            voice.Take(Part(1, 1, 0, false), Pcm(0, Rate));
            voice.Take(Format(1, 2));
            voice.Take(Part(1, 2, 0, true), Pcm(0, Rate));
            voice.Take(Format(2, 1));
            voice.Take(Part(2, 1, 0, true), Pcm(0, 500));
            FakePlayerLoop.Frame(0.016f);
            heard.Step(0.016);
            Check.That(voice.IsSpeaking, "it speaks");
            int before = heard.Heard.Count;
            Invoke(voice, "EndTurn", 1L, true);
            Check.That(!voice.IsSpeaking && !voice.Source.isPlaying, "silent at once");
            FakePlayerLoop.Frame(0.016f);
            heard.Step(0.016);
            FakePlayerLoop.Frame(0.016f);
            Check.Equal(before + 500, heard.Heard.Count, "only the next turn is heard");
            voice.Stop();
            voice.Take(Part(2, 1, 1, true), Pcm(0, 500));
            voice.Take(Format(3, 1));
            voice.Take(Part(3, 1, 0, false), Pcm(0, Rate));
            FakePlayerLoop.Frame(0.016f);
            voice.enabled = false;
            Check.That(!voice.IsSpeaking, "a voice that is off");
            voice.Take(Format(4, 1));
            voice.enabled = true;
            FakePlayerLoop.Frame(0.016f);
            Check.That(!voice.IsSpeaking, "and nothing waits");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AFailedTurnIsHeardAsFarAsItCame()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            voice.Take(Format(1, 1));
            voice.Take(Part(1, 1, 0, false), Pcm(0, 1000));
            Invoke(voice, "EndTurn", 1L, false);
            for (int i = 0; i < 40; i++)
            {
                FakePlayerLoop.Frame(0.016f);
                heard.Step(0.016);
            }
            CheckHeard(heard, 0, 1000, "what came");
            Check.That(!voice.IsSpeaking, "over");
            FakePlayerLoop.Stop();
        }

        /// <summary>A chunk of a sentence: its text on the first one, and one loudness for all of it.</summary>
        private static AudioChunk Sentence(long step, int index, long sentence, string text, double loudness, bool isFinal)
        {
            AudioChunk chunk = Part(1, step, index, isFinal);
            chunk.Sentence = sentence;
            chunk.Text = text;
            chunk.Envelope = new List<double>();
            for (int i = 0; i < 50; i++)
            {
                chunk.Envelope.Add(loudness);
            }
            return chunk;
        }

        /// <summary>All that a voice tells, in its order; how loud it is only where that changes.</summary>
        private static List<string> Told(ParleyVoice voice)
        {
            List<string> told = new List<string>();
            float last = -1f;
            voice.OnStarted.AddListener(delegate(string speaker) { told.Add("started " + speaker); });
            voice.OnFinished.AddListener(delegate(string speaker) { told.Add("finished " + speaker); });
            voice.OnSentence.AddListener(delegate(string speaker, string text) { told.Add("sentence " + text + "=" + (voice.Sentence == text)); });
            voice.OnUnderrun.AddListener(delegate(string speaker, int count) { told.Add("hole " + count); });
            voice.OnLoudness.AddListener(delegate(string speaker, float loudness)
            {
                Check.Equal(loudness, voice.Loudness, "the property");
                if (loudness != last)
                {
                    told.Add("loud " + (int)(loudness * 100));
                    last = loudness;
                }
            });
            return told;
        }

        [Test]
        private static void WhatIsHeardIsToldInItsMoment()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            List<string> told = Told(voice);
            List<double> at = new List<double>();
            double clock = 0;
            voice.SentenceStarted += delegate(VoiceSentence sentence) { at.Add(clock); };
            voice.Take(Format(1, 1));
            voice.Take(Sentence(1, 0, 0, "Sit down. ", 0.2, false), Pcm(0, Rate));
            voice.Take(Sentence(1, 1, 1, "*She nods.* ", 0, false), null);
            voice.Take(Sentence(1, 2, 2, "Eat!", 0.6, false), Pcm(Rate, Rate));
            voice.Take(Sentence(1, 3, 3, " *sighs*", 0, false), null);
            voice.Take(Sentence(1, 4, 3, null, 0, true), null);
            for (; clock < 3; clock += 0.016)
            {
                FakePlayerLoop.Frame(0.016f);
                heard.Step(0.016);
            }
            Check.Texts(
                told,
                "in this order",
                "started mira", "sentence Sit down. =True", "loud 20", "sentence *She nods.* =True", "sentence Eat!=True", "loud 60",
                "sentence  *sighs*=True", "loud 0", "finished mira");
            Check.That(at[0] < 0.1, "the first sentence at " + at[0]);
            Check.That(at[2] > 1.0 && at[2] < 1.1, "the next one at " + at[2]);
            Check.That(at[3] > 2.0 && at[3] < 2.1, "the last one at " + at[3]);
            Check.Equal("", voice.Sentence, "none afterwards");
            Check.Equal(0, Stage.CountLog(LogType.Exception, ""), "exceptions\n" + FakePlayerLoop.Log());
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void ALineThatIsStoppedTellsNothingMore()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            List<string> told = Told(voice);
            voice.Take(Format(1, 1));
            voice.Take(Sentence(1, 0, 0, "Sit down. ", 0.2, false), Pcm(0, Rate));
            voice.Take(Sentence(1, 1, 1, "Eat!", 0.6, true), Pcm(Rate, Rate));
            Run(heard, 0.5);
            voice.Stop();
            Run(heard, 2);
            Check.Texts(told, "stopped", "started mira", "sentence Sit down. =True", "loud 20", "loud 0", "finished mira");
            told.Clear();
            voice.SentenceStarted += delegate { voice.Stop(); };
            voice.Take(Format(1, 2));
            voice.Take(Sentence(2, 0, 0, "Sit. ", 0.2, false), Pcm(0, 10));
            voice.Take(Sentence(2, 1, 1, "Eat!", 0.6, true), Pcm(Rate, Rate));
            Run(heard, 2);
            Check.That(told.Contains("sentence Sit. =True") && !told.Contains("sentence Eat!=True"), "stopped by a listener: " + string.Join(", ", told.ToArray()));
            Check.Equal("finished mira", told[told.Count - 1], "and over");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void SentencesWithoutSoundAreToldToo()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            List<string> told = Told(voice);
            voice.Take(Format(1, 1));
            voice.Take(Sentence(1, 0, 0, "*smiles* ", 0, false), null);
            voice.Take(Sentence(1, 1, 1, "🙂", 0, false), null);
            voice.Take(Sentence(1, 2, 1, null, 0, true), null);
            voice.Take(Format(1, 2));
            voice.Take(Sentence(2, 0, 0, "Eat!", 0.6, true), Pcm(0, Rate));
            FakePlayerLoop.Frame(0.016f);
            Check.Texts(told, "at once", "started mira", "sentence *smiles* =False", "sentence 🙂=False", "finished mira", "started mira");
            Check.Equal(0, heard.Clips.Count, "no clip for nothing");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void HolesAreCountedAndAreSilent()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            List<string> told = Told(voice);
            Speak(voice, heard, 4, 0.7);
            CheckHeard(heard, 0, 4 * Rate, "all");
            int holes = told.FindAll(delegate(string one) { return one.StartsWith("hole"); }).Count;
            Check.That(holes >= 3 && holes <= 9, "holes " + holes);
            Check.Equal(holes, voice.Underruns, "counted");
            Check.That(told.FindAll(delegate(string one) { return one == "loud 0"; }).Count >= holes, "silence is not loud");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void ChunksOfAnySizeAtAnySpeed()
        {
            Random random = new Random(11);
            foreach (double speed in new[] { 0.7, 1.0, 3.0 })
            {
                FakePlayerLoop.Play();
                FakeSpeaker heard;
                ParleyVoice voice = New("mira", out heard);
                voice.LeadSeconds = (float)random.NextDouble();
                const int Samples = 3 * Rate;
                int sent = 0;
                int index = 0;
                bool isOver = false;
                voice.Finished += delegate { isOver = true; };
                voice.Take(Format(1, 1));
                for (double clock = 0; clock < 12 && !isOver; clock += 0.016)
                {
                    while (sent < Samples && sent < clock * speed * Rate)
                    {
                        int count = Math.Min(random.Next(0, 5000), Samples - sent);
                        voice.Take(Part(1, 1, index, sent + count == Samples), Pcm(sent, count));
                        if (random.Next(4) == 0)
                        {
                            voice.Take(Part(1, 1, index, false), Pcm(sent, count));
                        }
                        sent += count;
                        index++;
                    }
                    FakePlayerLoop.Frame(0.016f);
                    heard.Step(0.016);
                }
                Check.That(isOver, "it is over");
                CheckHeard(heard, 0, Samples, "at " + speed);
                FakePlayerLoop.Stop();
            }
        }

        [Test]
        private static void EveryStepHasItsOwnRate()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("", out heard);
            voice.Source.loop = false;
            int step = 1;
            List<int> rates = new List<int>();
            voice.Started += delegate { rates.Add(voice.Source.clip.frequency); };
            foreach (int rate in new[] { 16000, 24000, 22050 })
            {
                AudioFormat format = Format(1, step);
                format.SampleRate = rate;
                voice.Take(format);
                voice.Take(Part(1, step++, 0, true), Pcm(0, rate));
            }
            Run(heard, 2.5);
            Check.Texts(rates.ConvertAll(delegate(int rate) { return "" + rate; }), "rates", "16000", "24000", "22050");
            Run(heard, 1);
            Check.Equal(16000 + 24000 + 22050, heard.Heard.Count, "samples");
            Check.That(!voice.IsSpeaking && !voice.Source.loop, "the source is as it was");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void WhatIsLostIsAShortSilence()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            List<string> told = Told(voice);
            voice.Take(Format(1, 1));
            voice.Take(Sentence(1, 0, 0, "Sit down. ", 0.2, false), Pcm(0, Rate));
            voice.Take(Sentence(1, 7, 2, "Eat!", 0.6, true), Pcm(Rate, Rate));
            Run(heard, 3);
            CheckHeard(heard, 0, 2 * Rate, "what came");
            Check.Texts(
                told, "told", "started mira", "sentence Sit down. =True", "loud 20", "loud 0", "sentence Eat!=True", "loud 60", "loud 0", "finished mira");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void TurnsOfTwoSidecarsAreNotMixedUp()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            voice.Take(Format(1, 1));
            voice.Take(Part(1, 1, 0, false), Pcm(0, Rate));
            AudioFormat format = Format(1, 1);
            format.AgentId = "b";
            AudioChunk chunk = Part(1, 1, 0, true);
            chunk.AgentId = "b";
            voice.Take(format);
            voice.Take(chunk, Pcm(0, 500));
            Invoke(voice, "ExpectEnd", 1L);
            Run(heard, 9);
            CheckHeard(heard, Rate, 500, "the second");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void TheAudioThreadAllocatesNothing()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            voice.Take(Format(1, 1));
            voice.Take(Part(1, 1, 0, true), Pcm(0, 20 * Rate));
            FakePlayerLoop.Frame(0.016f);
            AudioClip clip = voice.Source.clip;
            float[] data = new float[1024];
            Check.Equal(0L, Check.Allocated(delegate { clip.FakeRead(data); }), "bytes");
            clip.FakeRead(data);
            clip.FakeSeek(500);
            float[] more = new float[4096];
            Check.Equal(0L, Check.Allocated(delegate { clip.FakeRead(more); }), "bytes across what was kept");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void FormatsThatCannotBePlayedAreSaid()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            AudioFormat slow = Format(1, 1);
            slow.SampleRate = 5;
            voice.Take(slow);
            voice.Take(Part(1, 1, 0, true), Pcm(0, 10));
            Check.Equal(1, Stage.CountLog(LogType.Warning, "cannot be played"), "a rate");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void TheCastSaysWhereAVoiceComesFrom()
        {
            FakePlayerLoop.Play();
            ParleyVoice voice = new GameObject("Room").AddComponent<ParleyVoice>();
            DialogueCast cast = ScriptableObject.CreateInstance<DialogueCast>();
            DialogueSpeaker mira = new DialogueSpeaker("mira", "Mira", Color.white, false);
            mira.VoiceSource = new GameObject("Deep voice").AddComponent<AudioSource>();
            cast.Speakers.Add(mira);
            voice.Cast = cast;
            List<string> from = new List<string>();
            for (int line = 1; line <= 4; line++)
            {
                AudioFormat format = Format(line, 1);
                AudioChunk part = Part(line, 1, 0, true);
                format.NodeName = part.NodeName = line % 2 == 1 ? "mira" : "bram";
                voice.Take(format);
                voice.Take(part, Pcm(0, 100));
                FakePlayerLoop.Frame(0.016f);
                foreach (GameObject one in FakeEngine.Scene)
                {
                    AudioSource source = one.GetComponent<AudioSource>();
                    if (source != null && source.isPlaying)
                    {
                        from.Add(one.name);
                    }
                }
                voice.Stop();
            }
            Check.Texts(from, "where", "Deep voice(Clone)", "Room", "Deep voice(Clone)", "Room");
            Check.Equal(3, FakeEngine.Scene.Count, "one copy is made");
            FakePlayerLoop.Stop();
        }

        internal static void Invoke(object target, string method, params object[] arguments)
        {
            target.GetType().GetMethod(method, BindingFlags.Instance | BindingFlags.NonPublic).Invoke(target, arguments);
        }
    }
}
