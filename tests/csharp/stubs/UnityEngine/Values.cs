// Plain values of UnityEngine that the package uses.
// Checked against Unity-Technologies/UnityCsReference: Runtime/Export/Math/{Color,Mathf,Vector2,Vector2Int,Vector3,Rect}.cs,
// Runtime/Export/Graphics/Texture.cs, Runtime/2D/Common/ScriptBindings/Sprites.bindings.cs
using System;

namespace UnityEngine
{
    [Serializable]
    public partial struct Color : IEquatable<Color>
    {
        public float r;
        public float g;
        public float b;
        public float a;

        public Color(float r, float g, float b, float a)
        {
            this.r = r;
            this.g = g;
            this.b = b;
            this.a = a;
        }

        public Color(float r, float g, float b)
            : this(r, g, b, 1f)
        {
        }

        public static Color white
        {
            get { return new Color(1f, 1f, 1f, 1f); }
        }

        public static Color black
        {
            get { return new Color(0f, 0f, 0f, 1f); }
        }

        public static Color red
        {
            get { return new Color(1f, 0f, 0f, 1f); }
        }

        public static Color gray
        {
            get { return new Color(.5f, .5f, .5f, 1f); }
        }

        public static Color yellow
        {
            get { return new Color(1f, 235f / 255f, 4f / 255f, 1f); }
        }

        public bool Equals(Color other)
        {
            return r.Equals(other.r) && g.Equals(other.g) && b.Equals(other.b) && a.Equals(other.a);
        }

        public override bool Equals(object other)
        {
            return other is Color && Equals((Color)other);
        }

        public override int GetHashCode()
        {
            return r.GetHashCode() ^ (g.GetHashCode() << 2) ^ (b.GetHashCode() >> 2) ^ (a.GetHashCode() >> 1);
        }

        public static bool operator ==(Color lhs, Color rhs)
        {
            return lhs.Equals(rhs);
        }

        public static bool operator !=(Color lhs, Color rhs)
        {
            return !lhs.Equals(rhs);
        }
    }

    public partial struct Mathf
    {
        public static float Clamp(float value, float min, float max)
        {
            return value < min ? min : value > max ? max : value;
        }

        public static float Clamp01(float value)
        {
            return Clamp(value, 0f, 1f);
        }

        public static float Max(float a, float b)
        {
            return a > b ? a : b;
        }

        public static float Min(float a, float b)
        {
            return a < b ? a : b;
        }
    }

    [Serializable]
    public partial struct Vector2
    {
        public float x;
        public float y;

        public Vector2(float x, float y)
        {
            this.x = x;
            this.y = y;
        }

        public static Vector2 zero
        {
            get { return new Vector2(0f, 0f); }
        }

        public static Vector2 operator +(Vector2 a, Vector2 b)
        {
            return new Vector2(a.x + b.x, a.y + b.y);
        }

        public static Vector2 operator -(Vector2 a, Vector2 b)
        {
            return new Vector2(a.x - b.x, a.y - b.y);
        }
    }

    [Serializable]
    public partial struct Vector3
    {
        public float x;
        public float y;
        public float z;

        public Vector3(float x, float y)
            : this(x, y, 0f)
        {
        }

        public Vector3(float x, float y, float z)
        {
            this.x = x;
            this.y = y;
            this.z = z;
        }

        public static implicit operator Vector3(Vector2 v)
        {
            return new Vector3(v.x, v.y, 0f);
        }
    }

    [Serializable]
    public partial struct Vector2Int
    {
        public Vector2Int(int x, int y)
            : this()
        {
            this.x = x;
            this.y = y;
        }

        public int x { get; set; }
        public int y { get; set; }
    }

    [Serializable]
    public partial struct Rect
    {
        public Rect(float x, float y, float width, float height)
            : this()
        {
            this.x = x;
            this.y = y;
            this.width = width;
            this.height = height;
        }

        public float x { get; set; }
        public float y { get; set; }
        public float width { get; set; }
        public float height { get; set; }

        public float xMin
        {
            get { return x; }
        }

        public float yMin
        {
            get { return y; }
        }

        public float xMax
        {
            get { return x + width; }
        }

        public float yMax
        {
            get { return y + height; }
        }

        public Vector2 position
        {
            get { return new Vector2(x, y); }
        }

        public Vector2 size
        {
            get { return new Vector2(width, height); }
        }

        public Vector2 center
        {
            get { return new Vector2(x + width / 2f, y + height / 2f); }
        }

        public bool Contains(Vector2 point)
        {
            return point.x >= xMin && point.x < xMax && point.y >= yMin && point.y < yMax;
        }
    }

    /// <summary>Runtime/Export/Input/KeyCode.cs</summary>
    public enum KeyCode
    {
        None = 0,
        Backspace = 8,
        Tab = 9,
        Return = 13,
        Escape = 27,
        Space = 32,
        Delete = 127,
        KeypadEnter = 271,
        UpArrow = 273,
        DownArrow = 274
    }

    /// <summary>Modules/TextRendering/TextRendering.bindings.cs</summary>
    public enum FontStyle
    {
        Normal = 0,
        Bold = 1,
        Italic = 2,
        BoldAndItalic = 3
    }

    public partial class Texture : Object
    {
    }

    public sealed partial class Texture2D : Texture
    {
    }

    public sealed partial class Sprite : Object
    {
    }
}
