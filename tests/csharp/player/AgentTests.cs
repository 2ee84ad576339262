// ParleyAgent: what a script sets before its conversation begins, and afterwards.
using System.Threading.Tasks;
using Parley;
using Parley.Messages;
using UnityEngine;

namespace PlayerTests
{
    internal static class AgentTests
    {
        [Test]
        private static void AConversationBeginsAndIsMadeAnewAsItIsSet()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Note", "note");
            Notes notes = new Notes(agent);
            agent.StartDialog = new TextAsset("[{\"user\": \"Hi\", \"replies\": [{\"node_name\": \"note\", \"text\": \"Ho\"}]}]");
            Stage.UntilReady();
            Check.Equal(1, agent.Agent.Dialog.Interactions.Count, "turns of the dialog that it begins with");
            Task set = agent.SetVariableAsync("level", 5);
            FakePlayerLoop.Until(delegate { return set.IsCompleted; }, "the variable is set");
            Check.That(!set.IsFaulted, "it was refused");
            Task wrong = agent.SetVariableAsync("levle", 5);
            FakePlayerLoop.Until(delegate { return wrong.IsCompleted; }, "a variable that there is not is answered");
            Check.That(wrong.Exception.InnerException is ParleyException, "it was taken");
            agent.Say("a");
            notes.UntilTurns(1);
            Check.Equal("5|", notes.Text.ToString(), "what it says");
            Check.Equal(2, agent.Agent.Dialog.Interactions.Count, "turns");

            agent.StartDialog = null;
            agent.Workflow = Stage.Character("Guard", "guard").Workflow;
            agent.Say("b");
            notes.UntilTurns(2);
            Check.Equal("5|5|", notes.Text.ToString(), "a workflow that is only set");
            agent.Remake();
            agent.Say("c");
            notes.UntilTurns(3);
            Check.Equal("5|5|Halt!|", notes.Text.ToString(), "what it says once it is made anew");
            Check.Equal(1, agent.Agent.Dialog.Interactions.Count, "turns of the dialog that it has then");
            Check.Equal(TurnStatus.Success, notes.Turns[2].Status, "the last turn");
            Check.Equal(0, notes.Errors.Count, "errors");
            FakePlayerLoop.Stop();
        }
    }
}
