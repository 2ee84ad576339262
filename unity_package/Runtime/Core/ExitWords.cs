// What an exit code of the sidecar means, in words.
using System.Globalization;

namespace Parley
{
    /// <summary>Exit codes as a developer reads them. Pure.</summary>
    public static class ExitWords
    {
        /// <summary>`parley serve` ended because it was told to.</summary>
        public const int Ok = 0;

        /// <summary>It cannot start as its settings are.</summary>
        public const int Failed = 1;

        /// <summary>It does not know one of its arguments.</summary>
        public const int Usage = 2;

        /// <summary>Somebody else listens where it was told to.</summary>
        public const int EndpointTaken = 3;

        private const int SignalBase = 128;

        /// <summary>The end of "the sidecar …", with the code.</summary>
        public static string Describe(int code, bool isWindows)
        {
            string words = isWindows && (code < 0 || code > 255) ? OfWindows(unchecked((uint)code)) : OfAny(code, isWindows);
            string number = code < 0 || code > 255
                ? "0x" + unchecked((uint)code).ToString("X8", CultureInfo.InvariantCulture)
                : code.ToString(CultureInfo.InvariantCulture);
            return words + " (exit code " + number + ")";
        }

        /// <summary>A sidecar that ended so before it was ready would end so again.</summary>
        public static bool IsForGood(int code, bool isWindows)
        {
            if (code == Failed || code == Usage)
            {
                return true;
            }
            if (!isWindows)
            {
                return code == 126 || code == 127 || code == 255 || code == SignalBase + 4;
            }
            switch (unchecked((uint)code))
            {
                case 0xC000001D:
                case 0xC0000135:
                case 0xC0000139:
                case 0xC000007B:
                case 0xC0000142:
                    return true;
                default:
                    return false;
            }
        }

        private static string OfAny(int code, bool isWindows)
        {
            switch (code)
            {
                case Ok:
                    return "ended as it was told to";
                case Failed:
                    return isWindows
                        ? "could not start, or was ended by somebody (its last lines may say why)"
                        : "could not start (its last lines say why)";
                case Usage:
                    return "was started with arguments that it does not know";
                case EndpointTaken:
                    return "found its port taken by another program";
            }
            if (isWindows)
            {
                return "ended by itself";
            }
            switch (code)
            {
                case 126:
                case 127:
                case 255:
                    return "could not be run: it, or what it needs, is not a program for this machine";
                case SignalBase + 4:
                    return "used an instruction that this processor does not have; take a build for older processors";
                case SignalBase + 6:
                    return "gave up over a fault inside it (SIGABRT)";
                case SignalBase + 9:
                    return "was killed, by somebody or for want of memory (SIGKILL)";
                case SignalBase + 11:
                    return "crashed (SIGSEGV)";
                case SignalBase + 2:
                case SignalBase + 15:
                    return "was asked by somebody else to end (" + (code == SignalBase + 2 ? "SIGINT" : "SIGTERM") + ")";
            }
            if (code > SignalBase && code <= SignalBase + 64)
            {
                return "was ended by signal " + (code - SignalBase).ToString(CultureInfo.InvariantCulture);
            }
            return "ended by itself";
        }

        private static string OfWindows(uint code)
        {
            switch (code)
            {
                case 0xC000001D:
                    return "used an instruction that this processor does not have; take a build for older processors";
                case 0xC0000005:
                    return "crashed (access violation)";
                case 0xC00000FD:
                    return "crashed (stack overflow)";
                case 0xC0000409:
                    return "gave up over a fault inside it";
                case 0xC0000135:
                case 0xC0000139:
                    return "did not find a DLL that it needs";
                case 0xC000007B:
                case 0xC0000142:
                    return "could not be run: it, or a DLL that it needs, is not for this machine";
                case 0xC000013A:
                    return "was ended with its console";
                case 0xC0000017:
                    return "had no memory left";
                case 0xFFFFFFFF:
                    return "was killed by somebody";
                default:
                    return "ended by a fault of Windows or inside it";
            }
        }
    }
}
