// What generated fields say of themselves: bounds, tooltips, and what they name.
using System;

namespace Parley
{
    /// <summary>Tells an editor what a field holds, so that it can offer a picker.</summary>
    [AttributeUsage(AttributeTargets.Field)]
    public abstract class ParamAttribute : Attribute
    {
        /// <summary>What it holds.</summary>
        public abstract ParamKind Kind { get; }
    }

    /// <summary>A text of several lines.</summary>
    public sealed class MultilineTextAttribute : ParamAttribute
    {
        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return ParamKind.Text; }
        }
    }

    /// <summary>A text of several lines with Mustache tags.</summary>
    public sealed class TemplateTextAttribute : ParamAttribute
    {
        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return ParamKind.Template; }
        }
    }

    /// <summary>A list of regular expressions.</summary>
    public sealed class RegexListAttribute : ParamAttribute
    {
        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return ParamKind.RegexList; }
        }
    }

    /// <summary>A file under the storage folder, or a storage that was made by name.</summary>
    public sealed class StorageFileAttribute : ParamAttribute
    {
        /// <summary>An embedded storage, not a list of texts.</summary>
        public bool IsEmbedded;

        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return IsEmbedded ? ParamKind.EmbeddedStorage : ParamKind.StringStorage; }
        }
    }

    /// <summary>A tree of conditions on the fields of an embedded storage.</summary>
    public sealed class FilterTreeAttribute : ParamAttribute
    {
        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return ParamKind.Filter; }
        }
    }

    /// <summary>A model of the catalog.</summary>
    public sealed class ModelNameAttribute : ParamAttribute
    {
        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return ParamKind.Model; }
        }
    }

    /// <summary>A voice of the catalog.</summary>
    public sealed class VoiceNameAttribute : ParamAttribute
    {
        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return ParamKind.Voice; }
        }
    }

    /// <summary>A slot to read; empty: the player's line.</summary>
    public sealed class SlotInputAttribute : ParamAttribute
    {
        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return ParamKind.SlotInput; }
        }
    }

    /// <summary>A slot to write; empty: the one with the node's name.</summary>
    public sealed class SlotOutputAttribute : ParamAttribute
    {
        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return ParamKind.SlotOutput; }
        }
    }

    /// <summary>The name of a node.</summary>
    public sealed class NodeNameAttribute : ParamAttribute
    {
        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return ParamKind.Name; }
        }
    }

    /// <summary>A variable that the workflow declares.</summary>
    public sealed class VariableNameAttribute : ParamAttribute
    {
        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return ParamKind.Variable; }
        }
    }

    /// <summary>The node that comes next; empty: the turn ends.</summary>
    public sealed class ExitTargetAttribute : ParamAttribute
    {
        /// <inheritdoc/>
        public override ParamKind Kind
        {
            get { return ParamKind.Exit; }
        }
    }

    /// <summary>What a field is for: the tooltip.</summary>
    [AttributeUsage(AttributeTargets.Field)]
    public sealed class MeaningAttribute : Attribute
    {
        /// <summary>Some sentences.</summary>
        public readonly string Text;

        /// <summary>Some sentences about the field.</summary>
        public MeaningAttribute(string text)
        {
            Text = text;
        }
    }

    /// <summary>The least and the greatest value of a number.</summary>
    [AttributeUsage(AttributeTargets.Field)]
    public sealed class BoundsAttribute : Attribute
    {
        /// <summary>The least value that is taken.</summary>
        public readonly double Least;

        /// <summary>The greatest value that is taken.</summary>
        public readonly double Most;

        /// <summary>Both bounds are values that are taken.</summary>
        public BoundsAttribute(double least, double most)
        {
            Least = least;
            Most = most;
        }
    }

    /// <summary>Set when the agent is made; ChangeParams refuses to change it.</summary>
    [AttributeUsage(AttributeTargets.Field)]
    public sealed class FixedAttribute : Attribute
    {
    }
}
