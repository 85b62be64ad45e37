import {
  Brain,
  CalendarClock,
  Code,
  FileSearch,
  Globe,
  type LucideIcon,
  Plug,
  Search,
  SquareTerminal,
  Users,
  Wrench,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { type Schemas, useAssistants } from '../../../lib/api.ts'
import { type JsonObject, asList } from '../../../lib/json.ts'
import { assistantMessages } from '../../../texts/assistant.ts'
import { CheckField } from '../../../ui/field.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { SchemaForm } from '../../../ui/schema-form.tsx'
import { Loading } from '../../../ui/states.tsx'
import { inWords } from './field-words.ts'

const t = assistantMessages.tools

export type ToolSetting = Schemas['ToolSetting']
type ToolType = ToolSetting['type']

interface ToolFormProps {
  assistantId: string
  schema: JsonObject
  value: JsonObject
  onValue: (value: JsonObject) => void
}

/** How the console shows the tools of a type. Everything but the icon has a default. */
interface ToolKind {
  Icon: LucideIcon
  /** What its card says; default: the description by the service. */
  text?: string
  /** Why it may not be available. */
  notSetUp?: string
  /** One line about the settings of a tool. */
  summary?: (config: JsonObject) => string
  /** Fields for the settings; default: those of the schema. */
  Form?: (props: ToolFormProps) => ReactNode
  /** Whether an assistant has it once at most. */
  isSingle?: boolean
  /** Whether its settings have its name. */
  isNamedInside?: boolean
  /** Whether the service never calls it: nothing to ask, nothing to try. */
  isElsewhere?: boolean
}

/** A type without an entry is shown with its title in `assistantMessages.tools.names` and a form for its schema. */
const toolKinds: Partial<Record<ToolType, ToolKind>> = {
  http_request: {
    Icon: Globe,
    text: t.cards.http_request,
    summary: ({ allowed_hosts: hosts, methods }) =>
      dotted(some(hosts) || t.summary.anyHost, some(methods) || t.summary.allMethods),
  },
  mcp: {
    Icon: Plug,
    text: t.cards.mcp,
    isNamedInside: true,
    summary: ({ url, allowed_tools: tools }) =>
      dotted(
        hostOf(url) ?? t.summary.noAddress,
        tools === undefined ? t.summary.allTools : t.summary.someTools(asList(tools).length),
      ),
  },
  web_search: { Icon: Search, text: t.cards.web_search, isSingle: true, notSetUp: t.notSetUpWhy.web_search },
  schedule: { Icon: CalendarClock, text: t.cards.schedule, isSingle: true },
  memory: {
    Icon: Brain,
    text: t.cards.memory,
    isSingle: true,
    summary: ({ scope }) => (scope === 'project' ? t.summary.memoryOfProject : t.summary.memoryOfAssistant),
  },
  retrieval: {
    Icon: FileSearch,
    text: t.cards.retrieval,
    isSingle: true,
    summary: ({ max_num_results: most }) => (typeof most === 'number' ? t.summary.retrieval(most) : t.cards.retrieval),
  },
  assistant: { Icon: Users, text: t.cards.assistant, isSingle: true, Form: AskableField, summary: askedOf },
  code: { Icon: SquareTerminal, text: t.cards.code, isSingle: true },
  client: {
    Icon: Code,
    text: t.cards.client,
    isNamedInside: true,
    isElsewhere: true,
    summary: ({ description }) => (typeof description === 'string' ? description : t.cards.client),
  },
}

export function ToolForm({ type, ...props }: ToolFormProps & { type: ToolType }): ReactNode {
  const { Form } = kindOf(type)
  if (Form) return <Form {...props} />
  const { schema, value, onValue } = props
  return <SchemaForm schema={inWords(type, schema)} value={value} onValue={onValue} isOwn />
}

const unknown: ToolKind = { Icon: Wrench }

export const kindOf = (type: ToolType): ToolKind => toolKinds[type] ?? unknown

/** What people call a tool: its own name, or that of its type. */
export function titleOf({ type, name, config }: ToolSetting): string {
  const inside = kindOf(type).isNamedInside ? config?.['name'] : undefined
  return (typeof inside === 'string' && inside) || name || t.names[type]
}

export function summaryOf({ type, config }: ToolSetting): string {
  const { summary, text } = kindOf(type)
  return summary?.(config ?? {}) ?? text ?? ''
}

/** Whether a tool of the model, or a problem, is one of that entry of the assistant's tools. */
export function isToolOf({ type, name, config }: ToolSetting, offered: { type: string; name: string }): boolean {
  if (offered.type !== type) return false
  const names = [name, config?.['name']].filter((one) => typeof one === 'string' && one !== '')
  // The service makes names that models can call: it replaces other letters, and cuts what is long.
  const begin = (one: unknown) =>
    String(one)
      .replaceAll(/[^\w-]/g, '_')
      .slice(0, 40)
  return (names.length === 0 ? [type] : names).some((one) => offered.name.startsWith(begin(one)))
}

function askedOf({ assistant_ids: ids }: JsonObject): string {
  return t.summary.assistants(asList(ids).length)
}

const dotted = (...parts: string[]) => parts.join(' · ')

const shownEntries = 2

function some(list: unknown): string {
  const entries = asList(list).map(String)
  const shown = entries.slice(0, shownEntries).join(', ')
  return entries.length > shownEntries ? t.summary.more(shown, entries.length - shownEntries) : shown
}

function hostOf(url: unknown): string | undefined {
  return typeof url === 'string' ? URL.parse(url)?.host : undefined
}

interface AskableFieldProps {
  /** The assistant that asks. */
  assistantId: string
  value: JsonObject
  onValue: (value: JsonObject) => void
}

/** The settings of the tool `assistant`: which assistants of the project may be asked. */
function AskableField({ assistantId, value, onValue }: AskableFieldProps) {
  const assistants = useAssistants()
  if (!assistants.isSuccess) return <Loading query={assistants} lines={3} />
  const chosen = asList(value['assistant_ids']).map(String)
  const others = assistants.data.filter(({ assistant_id: id }) => id !== assistantId)
  const gone = chosen.filter((id) => !others.some(({ assistant_id: other }) => other === id))
  const choose = (ids: string[]) => {
    const { assistant_ids: _, ...rest } = value
    onValue(ids.length === 0 ? rest : { ...rest, assistant_ids: ids })
  }
  return (
    <fieldset className="stack-small">
      <legend className="field-label">{t.asking.label}</legend>
      {others.length === 0 && <Notice>{t.asking.none}</Notice>}
      {others.map(({ assistant_id: id, name, config }) => (
        <CheckField
          key={id}
          label={name}
          help={String(config['type==agent/description'] ?? '').slice(0, 120)}
          checked={chosen.includes(id)}
          onValue={(isChosen) => choose(isChosen ? [...chosen, id] : chosen.filter((other) => other !== id))}
        />
      ))}
      {gone.map((id) => (
        <CheckField
          key={id}
          label={t.asking.gone}
          checked
          onValue={() => choose(chosen.filter((other) => other !== id))}
        />
      ))}
      <p className="field-help">{t.asking.help}</p>
    </fieldset>
  )
}
