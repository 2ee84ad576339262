// FEditorUndoClient: told after StubEngine::Transactions().Undo() and Redo().
// Source: MothCocoon/FlowGraph Source/FlowEditor/Public/Asset/FlowAssetEditor.h (PostUndo(bool bSuccess) override)
#pragma once

#include "StubTransactions.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Public/Asset/FlowAssetEditor.h
class FEditorUndoClient
{
public:
    virtual ~FEditorUndoClient() = default;
    virtual void PostUndo(bool bSuccess) {}
    virtual void PostRedo(bool bSuccess) {}
};

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/SVoxelDetailComboBox.h
class FSelfRegisteringEditorUndoClient : public FEditorUndoClient
{
public:
    FSelfRegisteringEditorUndoClient()
        : Alive(std::make_shared<FEditorUndoClient*>(this))
    {
        StubEngine::Transactions().Listeners.Add(
            [Weak = std::weak_ptr<FEditorUndoClient*>(Alive)](bool bUndo)
            {
                if (const std::shared_ptr<FEditorUndoClient*> Client = Weak.lock())
                {
                    bUndo ? (*Client)->PostUndo(true) : (*Client)->PostRedo(true);
                }
            });
    }

private:
    std::shared_ptr<FEditorUndoClient*> Alive;
};
