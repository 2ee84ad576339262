// What became of one turn, step by step, out of the diagnostics that TurnComplete carries.
#include "TurnInspectorModel.h"

#include "EditorJson.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace Parley::Editor
{

namespace TurnInspectorModelLocal
{

std::int64_t WholeOf(const Json* Object, std::string_view Field)
{
    const double Found = EditorJson::Number(Object, Field);
    return std::fabs(Found) < 9e15 ? static_cast<std::int64_t>(Found) : 0;
}

void AddFact(std::vector<Fact>& Facts, const std::string& Name, std::string Value)
{
    if (!Value.empty())
    {
        Facts.push_back(Fact{Name, std::move(Value)});
    }
}

void AddFacts(std::vector<Fact>& Facts, const Json* Object, const JsonCodec& Codec)
{
    if (Object == nullptr)
    {
        return;
    }
    for (const JsonMember& Field : Object->Members())
    {
        AddFact(Facts, Field.Name, EditorJson::Shown(Field.Value, Codec));
    }
}

/// Of one question {label: chance}, of several {question: {label: chance}}.
void ReadChances(StepView& Into, const std::string& Question, const Json* Chances)
{
    if (Chances == nullptr)
    {
        return;
    }
    std::vector<LabelChance> Found;
    for (const JsonMember& Chance : Chances->Members())
    {
        if (Chance.Value.IsObject() && Question.empty())
        {
            ReadChances(Into, Chance.Name, &Chance.Value);
        }
        else if (Chance.Value.IsNumber())
        {
            Found.push_back(LabelChance{Question, Chance.Name, EditorJson::Number(Chances, Chance.Name)});
        }
    }
    std::sort(Found.begin(), Found.end(), [](const LabelChance& One, const LabelChance& Other)
    {
        return One.Probability != Other.Probability ? One.Probability > Other.Probability : One.Label < Other.Label;
    });
    Into.Chances.insert(Into.Chances.end(), std::make_move_iterator(Found.begin()), std::make_move_iterator(Found.end()));
}

void ReadHits(StepView& Into, const Json* Details)
{
    std::set<std::string> Taken;
    for (const Json& Hit : EditorJson::Items(Details, "hits"))
    {
        Taken.insert(EditorJson::Text(&Hit, "id"));
    }
    std::set<std::string> Listed;
    for (const char* List : {"nearest", "hits"})
    {
        for (const Json& Hit : EditorJson::Items(Details, List))
        {
            const std::string& Id = EditorJson::Text(&Hit, "id");
            if (!Hit.IsObject() || !Listed.insert(Id).second)
            {
                continue;
            }
            Into.Hits.push_back(RetrievalHit{
                Id, EditorJson::Text(&Hit, "text"), EditorJson::Text(&Hit, "intent"), EditorJson::Number(&Hit, "distance"),
                Taken.count(Id) > 0});
        }
    }
}

void ReadDetails(StepView& Into, const Json* Details, const JsonCodec& Codec)
{
    if (Details == nullptr)
    {
        return;
    }
    ReadChances(Into, "", EditorJson::Object(Details, "probabilities"));
    ReadHits(Into, Details);
    for (const JsonMember& Detail : Details->Members())
    {
        const bool IsShown = (Detail.Name == "probabilities" && !Into.Chances.empty())
            || ((Detail.Name == "hits" || Detail.Name == "nearest") && Detail.Value.IsArray());
        if (!IsShown)
        {
            AddFact(Into.Details, Detail.Name, EditorJson::Shown(Detail.Value, Codec));
        }
    }
}

StepView ReadStep(const Json& From, const JsonCodec& Codec)
{
    StepView Read;
    Read.Number = static_cast<int>(WholeOf(&From, "step"));
    Read.NodeName = EditorJson::Text(&From, "node_name");
    Read.Type = EditorJson::Text(&From, "type");
    Read.Exit = EditorJson::Text(&From, "exit");
    Read.StartMs = EditorJson::Number(&From, "start_ms");
    Read.DurationMs = EditorJson::Number(&From, "duration_ms");
    Read.Model = EditorJson::Text(&From, "model");
    Read.Finish = EditorJson::Text(&From, "finish");
    Read.Reasoning = EditorJson::Text(&From, "reasoning");
    const Json* Input = EditorJson::Object(&From, "input");
    Read.InputSlot = EditorJson::Text(Input, "slot");
    Read.InputText = EditorJson::Text(Input, "text");
    Read.Rendered = EditorJson::Text(Input, "rendered");
    for (const Json& Message : EditorJson::Items(Input, "prompt"))
    {
        if (Message.IsObject())
        {
            Read.Prompt.push_back(PromptLine{EditorJson::Text(&Message, "role"), EditorJson::Text(&Message, "content")});
        }
    }
    const Json* Output = EditorJson::Object(&From, "output");
    Read.OutputSlot = EditorJson::Text(Output, "slot");
    Read.OutputText = EditorJson::Text(Output, "text");
    Read.Send = EditorJson::Text(Output, "send");
    Read.HistoryRole = EditorJson::Text(Output, "history_role");
    AddFacts(Read.Usage, EditorJson::Object(&From, "usage"), Codec);
    AddFacts(Read.Budget, EditorJson::Object(&From, "budget"), Codec);
    ReadDetails(Read, EditorJson::Object(&From, "details"), Codec);
    return Read;
}

void ReadDebug(TurnInspectorModel& Into, const Json* Debug, const JsonCodec& Codec)
{
    Into.DurationMs = EditorJson::Number(Debug, "duration_ms");
    AddFact(Into.Facts, "intent", EditorJson::Text(Debug, "intent"));
    AddFacts(Into.Facts, EditorJson::Object(Debug, "attributes"), Codec);
    AddFact(Into.Facts, "summary", EditorJson::Text(Debug, "summary"));
    if (const Json* Slots = EditorJson::Object(Debug, "slots"))
    {
        for (const JsonMember& Slot : Slots->Members())
        {
            Into.Slots.push_back(Fact{Slot.Name, EditorJson::Shown(Slot.Value, Codec)});
        }
    }
    for (const Json& Warning : EditorJson::Items(Debug, "warnings"))
    {
        Into.Warnings.push_back(EditorJson::Shown(Warning, Codec));
    }
    for (const Json& Item : EditorJson::Items(Debug, "steps"))
    {
        if (Item.IsObject())
        {
            Into.Steps.push_back(ReadStep(Item, Codec));
        }
    }
}

} // namespace TurnInspectorModelLocal

std::string StepView::Title() const
{
    return std::to_string(Number) + "  " + NodeName + " (" + Type + ")  " + (Exit.empty() ? "" : "\xE2\x86\x92 " + Exit) + "  "
        + EditorJson::Fixed(DurationMs, 1) + " ms";
}

TurnInspectorModel TurnInspectorModel::From(const Json& TurnComplete, const JsonCodec& Codec)
{
    TurnInspectorModel Turn;
    Turn.TurnId = TurnInspectorModelLocal::WholeOf(&TurnComplete, "turn_id");
    Turn.Status = EditorJson::Text(&TurnComplete, "status");
    if (const Json* Fault = EditorJson::Object(&TurnComplete, "error"))
    {
        Turn.Error = EditorJson::Text(Fault, "name") + " (" + EditorJson::Fixed(EditorJson::Number(Fault, "code"), 0) + "): "
            + EditorJson::Text(Fault, "message");
    }
    Turn.User = EditorJson::Text(EditorJson::Object(&TurnComplete, "interaction"), "user");
    if (const Json* Debug = EditorJson::Object(&TurnComplete, "debug"))
    {
        Turn.HasDebug = true;
        TurnInspectorModelLocal::ReadDebug(Turn, Debug, Codec);
    }
    return Turn;
}

std::string TurnInspectorModel::ToText() const
{
    std::string Text = "turn " + std::to_string(TurnId) + "  " + Status + "  " + EditorJson::Fixed(DurationMs, 1) + " ms\n> " + User + "\n";
    for (const StepView& Each : Steps)
    {
        Text += "\n" + Each.Title() + "\n";
        for (const Fact& Used : Each.Usage)
        {
            Text += "  " + Used.Name + ": " + Used.Value + "\n";
        }
        if (!Each.Rendered.empty())
        {
            Text += "--- prompt ---\n" + Each.Rendered + "\n--- end of prompt ---\n";
        }
        if (!Each.OutputSlot.empty())
        {
            Text += Each.OutputSlot + " = " + Each.OutputText + "\n";
        }
    }
    return Text;
}

} // namespace Parley::Editor
