import '../../styles/chat.css'
import { Link, useBlocker, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Ellipsis, FileDown, FlaskConical, MessageSquare, Trash2 } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { Suspense, useRef, useState } from 'react'
import { type Assistant, api, keys, queryClient, unwrap, useAssistant, wordsOf } from '../../lib/api.ts'
import { saveAssistantFile } from '../../lib/assistant-file.ts'
import { useDraft } from '../../lib/draft.ts'
import { useMembership } from '../../lib/membership.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { useTitle } from '../../lib/use-title.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Face } from '../../ui/face.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Menu } from '../../ui/menu.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loading } from '../../ui/states.tsx'
import { TabList } from '../../ui/tab-list.tsx'
import { AssistantReader } from './assistant-reader.tsx'
import { DebugTab } from './debug-tab.tsx'
import { KnowledgeTab } from './knowledge-tab.tsx'
import { ModelAccountTab } from './model-account-tab.tsx'
import { PublishTab } from './publish-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { ToolsTab } from './tools/tools-tab.tsx'

const InsightsTab = lazyPart(() => import('./insights-tab.tsx'))
const TestChat = lazyPart(() => import('./test-chat.tsx'))
const t = texts.assistants
const tabNames = Object.keys(t.tabs)

export function AssistantPage() {
  const { assistantId } = useParams({ from: '/console/assistants/$assistantId' })
  const assistant = useAssistant(assistantId)
  const { may } = useMembership()
  return (
    <>
      {assistant.data ? (
        may('editor') ? (
          <Editor key={assistantId} assistant={assistant.data} />
        ) : (
          <AssistantReader key={assistantId} assistant={assistant.data} />
        )
      ) : (
        <div className="page">
          <Loading query={assistant} lines={6} />
        </div>
      )}
    </>
  )
}

function Editor({ assistant }: { assistant: Assistant }) {
  const state = useDraft(assistant)
  const { tab = 'settings' } = useSearch({ from: '/console/assistants/$assistantId' })
  const open = tabNames.includes(tab) ? tab : 'settings'
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const aid = assistant.assistant_id
  const test = useTestChat()
  useTitle(state.draft.name)
  const form = useSubmit(async () => {
    await state.save()
    say(texts.saved)
  })
  const isGone = useRef(false)
  const leaving = useBlocker({
    // From tab to tab, changes stay.
    shouldBlockFn: ({ current, next }) => state.isChanged && !isGone.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => state.isChanged && !isGone.current,
    withResolver: true,
  })
  const remove = async () => {
    await unwrap(api.DELETE('/assistants/{aid}', { params: { path: { aid } } }))
    isGone.current = true
    await navigate({ to: '/console/assistants' })
    await queryClient.invalidateQueries({ queryKey: keys.assistants })
  }
  return (
    <div className="assistant-page">
      <div className="page">
        <header className="page-head">
          <div className="page-name">
            <Face name={state.draft.name} size={36} />
            <h1 className="grow truncate" title={state.draft.name}>
              {state.draft.name}
            </h1>
          </div>
          <div className="row">
            <Link to="/console/chat" search={{ assistant: aid }} className="button">
              <MessageSquare size={16} aria-hidden="true" />
              {t.chat}
            </Link>
            <Button aria-pressed={test.isOpen} onClick={test.toggle}>
              <FlaskConical size={16} aria-hidden="true" />
              {assistantMessages.testChat.open}
            </Button>
            <Menu
              trigger={<IconButton label={texts.more(assistant.name)} icon={<Ellipsis size={18} />} />}
              entries={[
                {
                  label: assistantMessages.assistantFiles.export,
                  icon: <FileDown size={15} aria-hidden="true" />,
                  onSelect: () =>
                    void saveAssistantFile(aid, assistant.name).catch((error: unknown) =>
                      say(wordsOf(error, texts.offline)),
                    ),
                },
                {
                  label: texts.delete,
                  danger: true,
                  icon: <Trash2 size={15} aria-hidden="true" />,
                  onSelect: () => setDeleting(true),
                },
              ]}
            />
          </div>
        </header>
        <Tabs.Root
          value={open}
          onValueChange={(next) => void navigate({ to: '.', search: { tab: next }, resetScroll: false })}
        >
          <TabList label={state.draft.name} tabs={Object.entries(t.tabs)} open={open} />
          <Tabs.Content value="settings" className="tab-panel">
            <SettingsTab assistant={assistant} state={state} />
          </Tabs.Content>
          <Tabs.Content value="tools" className="tab-panel">
            <ToolsTab assistantId={aid} state={state} />
          </Tabs.Content>
          <Tabs.Content value="knowledge" className="tab-panel">
            <KnowledgeTab assistantId={aid} />
          </Tabs.Content>
          <Tabs.Content value="publish" className="tab-panel">
            <PublishTab assistantId={aid} state={state} />
          </Tabs.Content>
          <Tabs.Content value="insights" className="tab-panel">
            <Suspense>
              <InsightsTab assistantId={aid} />
            </Suspense>
          </Tabs.Content>
          <Tabs.Content value="account" className="tab-panel">
            <ModelAccountTab assistantId={aid} />
          </Tabs.Content>
          <Tabs.Content value="debug" className="tab-panel">
            <DebugTab assistantId={aid} />
          </Tabs.Content>
        </Tabs.Root>
        {(state.isChanged || form.problem) && (
          <form className="save-bar" onSubmit={form.onSubmit}>
            {form.problem ? (
              <Notice tone="danger">{form.problem}</Notice>
            ) : (
              <span className="muted">{texts.unsaved}</span>
            )}
            <Button type="submit" look="primary" busy={form.isBusy}>
              {texts.saveChanges}
            </Button>
          </form>
        )}
      </div>
      {test.isOpen && (
        <Suspense>
          <TestChat assistant={assistant} isChanged={state.isChanged} onClose={test.toggle} />
        </Suspense>
      )}
      {leaving.status === 'blocked' && (
        <ConfirmDialog
          title={t.leaveTitle}
          text={t.leaveText(state.draft.name)}
          action={t.leave}
          onConfirm={async () => leaving.proceed()}
          onClose={leaving.reset}
        />
      )}
      {isDeleting && (
        <ConfirmDialog
          title={t.deleteTitle}
          text={t.deleteText(assistant.name)}
          action={texts.delete}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  )
}

const testChatKey = 'assistant-platform.test-chat'
/** As in the style sheet: narrower, the chat lies over the settings. */
const isWide = () => window.matchMedia('(min-width: 1100px)').matches

/** Whether the test chat is open; beside the settings it stays as it was left. */
function useTestChat() {
  const [isOpen, setOpen] = useState(() => isWide() && localStorage.getItem(testChatKey) === 'open')
  const toggle = () => {
    setOpen(!isOpen)
    localStorage.setItem(testChatKey, isOpen ? 'closed' : 'open')
  }
  return { isOpen, toggle }
}
