// ParleyVoice: streaming clips over a loudspeaker that reads ahead of what is heard, as the engine's does.
using System;
using System.Collections.Generic;
using System.Reflection;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;
using UnityEngine;

namespace PlayerTests
{
    /// <summary>A message as the sidecar sends them for voices.</summary>
    internal sealed class FakePush : Push
    {
        private readonly string _typeName;
        private readonly JObject _body;

        internal FakePush(string typeName, JObject body)
        {
            _typeName = typeName;
            _body = body;
        }

        public override string TypeName
        {
            get { return _typeName; }
        }

        public override JObject ToJson()
        {
            return _body;
        }
    }

    /// <summary>Plays what an AudioSource plays, and notes every sample that is not silence.</summary>
    internal sealed class FakeSpeaker
    {
        private const int BlockFrames = 1024;
        private const int AheadFrames = 6000;

        internal readonly List<int> Heard = new List<int>();
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
                float[] block = new float[BlockFrames * _clip.channels];
                _clip.FakeRead(block);
                _read += BlockFrames;
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

        private static VoiceFrame Format(long turn, long step)
        {
            return new VoiceFrame { IsFormat = true, AgentId = "a", TurnId = turn, Step = (int)step, NodeName = "mira", SampleRate = Rate };
        }

        private static VoiceFrame Part(long turn, long step, int index, bool isFinal)
        {
            return new VoiceFrame { AgentId = "a", TurnId = turn, Step = (int)step, NodeName = "mira", Index = index, IsFinal = isFinal };
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
            voice.Ended += note;
            voice.Take(Format(1, 1), null);
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
            voice.Ended -= note;
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
            voice.Began += delegate { told.Add("began"); };
            voice.Ended += delegate { told.Add("ended"); };
            voice.Take(Format(1, 1), null);
            voice.Take(Part(1, 1, 0, false), Pcm(0, 4 * Rate));
            voice.Take(Format(2, 1), null);
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
            voice.Began += delegate { began++; };
            voice.LeadSeconds = 0.5f;
            voice.Take(Format(1, 1), null);
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
            voice.Began += delegate { told.Add("began"); };
            voice.Ended += delegate { told.Add("ended"); };
            voice.Take(Format(1, 1), null);
            voice.Take(Format(1, 1), null);
            voice.Take(Format(1, 2), null);
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
            voice.Take(Format(1, 1), null);
            voice.Take(Part(1, 1, 0, false), Pcm(0, Rate));
            voice.Take(Format(1, 2), null);
            voice.Take(Part(1, 2, 0, true), Pcm(0, Rate));
            voice.Take(Format(2, 1), null);
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
            voice.Take(Format(3, 1), null);
            voice.Take(Part(3, 1, 0, false), Pcm(0, Rate));
            FakePlayerLoop.Frame(0.016f);
            voice.enabled = false;
            Check.That(!voice.IsSpeaking, "a voice that is off");
            voice.Take(Format(4, 1), null);
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
            voice.Take(Format(1, 1), null);
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

        [Test]
        private static void FormatsThatCannotBePlayedAreSaid()
        {
            FakePlayerLoop.Play();
            FakeSpeaker heard;
            ParleyVoice voice = New("mira", out heard);
            VoiceFrame odd = Format(1, 1);
            odd.Encoding = "opus";
            voice.Take(odd, null);
            VoiceFrame slow = Format(1, 2);
            slow.SampleRate = 5;
            voice.Take(slow, null);
            voice.Take(Part(1, 1, 0, true), Pcm(0, 10));
            Check.Equal(1, Stage.CountLog(LogType.Warning, "opus"), "an encoding");
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
                VoiceFrame format = Format(line, 1);
                VoiceFrame part = Part(line, 1, 0, true);
                format.NodeName = part.NodeName = line % 2 == 1 ? "mira" : "bram";
                voice.Take(format, null);
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

        [Test]
        private static void MessagesAreReadWithCare()
        {
            JObject format = JObject.Parse(
                "{\"agent_id\": \"a\", \"turn_id\": 7, \"node_name\": \"mira\", \"step\": 2, \"sample_rate\": 24000, \"channels\": 1, "
                + "\"encoding\": \"s16le\", \"more\": {}}");
            VoiceFrame frame = VoiceFrame.Read("AudioFormat", format);
            Check.That(frame.IsFormat && frame.TurnId == 7 && frame.Step == 2 && frame.SampleRate == 24000, "a format");
            JObject chunk = JObject.Parse(
                "{\"agent_id\": \"a\", \"turn_id\": 7, \"node_name\": \"mira\", \"step\": 2, \"sentence\": 0, \"index\": 3, \"text\": \"Hi.\", "
                + "\"envelope\": [0.1], \"is_final\": true}");
            frame = VoiceFrame.Read("AudioChunk", chunk);
            Check.That(!frame.IsFormat && frame.Index == 3 && frame.IsFinal, "a chunk");
            Check.Equal(null, VoiceFrame.Read("AnswerText", chunk), "another message");
            Check.Equal(null, VoiceFrame.Read("AudioFormat", chunk), "a format without a rate");
            Check.Equal(null, VoiceFrame.Read("AudioChunk", format), "a chunk without a number");
        }

        internal static void Invoke(object target, string method, params object[] arguments)
        {
            target.GetType().GetMethod(method, BindingFlags.Instance | BindingFlags.NonPublic).Invoke(target, arguments);
        }
    }
}
