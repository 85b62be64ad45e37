import Type from 'typebox'
import { Value } from 'typebox/value'
import type { Person } from '../../domain/acting.ts'
import { cutText } from '../../domain/cut-text.ts'
import { AppError } from '../../domain/errors.ts'
import { derivedId } from '../../domain/ids.ts'
import { requestLimits } from '../../domain/limits.ts'
import { messagesFromJson } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type ScheduleRecord, scheduleLimits } from '../../domain/records/schedule.ts'
import { nextTimes } from '../../domain/schedules/next-times.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { assistantStore } from '../stores/assistants.ts'
import { scheduleStore } from '../stores/schedules.ts'
import type { JsonSchema, Tool, ToolContext } from '../tool.ts'
import type { createScheduleWrites } from './write-schedules.ts'

interface ScheduleToolDeps {
  collections: Pick<Collections, 'schedules' | 'assistants'>
  schedules: Pick<ReturnType<typeof createScheduleWrites>, 'create' | 'remove'>
}

const timing = {
  cron: Type.Optional(
    Type.String({
      maxLength: scheduleLimits.cronLength,
      description:
        'Five fields: minute, hour, day of the month, month, day of the week, in the time zone. All must match.',
    }),
  ),
  interval_seconds: Type.Optional(Type.Integer(scheduleLimits.interval_seconds)),
  at: Type.Optional(Type.String({ maxLength: 40, description: 'A single time, ISO 8601 with its offset.' })),
  timezone: Type.Optional(
    Type.String({ maxLength: scheduleLimits.timezoneLength, description: 'IANA name; default UTC.' }),
  ),
}
const ScheduleArguments = Type.Object(
  {
    action: Type.Enum(['create', 'list', 'cancel']),
    question: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 20_000,
        description: 'For create: what you are asked at each time. It must say everything, in a new conversation.',
      }),
    ),
    ...timing,
    max_runs: Type.Optional(Type.Integer(scheduleLimits.max_runs)),
    note: Type.Optional(Type.String({ maxLength: requestLimits.nameLength, description: 'A short title.' })),
    in_this_conversation: Type.Optional(
      Type.Boolean({ description: 'For create: ask in this conversation; default: each time in a new one.' }),
    ),
    schedule_id: Type.Optional(Type.String({ maxLength: 128, description: 'For cancel.' })),
  },
  { additionalProperties: false },
)

export const scheduleParameters: JsonSchema = { ...ScheduleArguments }
export const scheduleDescription =
  'Asks this assistant again at later times: `create` a schedule (with `question` and exactly one of `cron`, `interval_seconds` and `at`), `list` those of this assistant, `cancel` one that was created here. A person may have to allow it.'

const listed = 50
const questionShown = 300
const timesShown = 3

/**
 * The tool with which an assistant makes schedules for the person of its run, within the owner's limits. The owner
 * approves the first of each assistant; the assistant can cancel only what it has made, and each person sees only their
 * own. Which runs have it: `domain/acting.ts`.
 */
export function scheduleTool(
  deps: ScheduleToolDeps,
  assistant: AssistantRecord,
  { name, person }: { name: string; person: Person },
): Tool {
  const planner: Planner = { assistant, person }
  return {
    type: 'schedule',
    name,
    description: scheduleDescription,
    parameters: scheduleParameters,
    // A repeated call finds the schedule that the first has made, by its id.
    safeToRepeat: true,
    timeoutMs: 30_000,
    needsApproval: ({ action }) => action === 'create' && !assistant.schedules_approved,
    async execute(args, context) {
      try {
        return await act(deps, planner, Value.Parse(ScheduleArguments, args), context)
      } catch (error) {
        throw error instanceof AppError ? new Error(wordsOf(error), { cause: error }) : error
      }
    },
  }
}

type Arguments = Type.Static<typeof ScheduleArguments>

/** Whose schedules the tool makes, lists and cancels. */
interface Planner {
  assistant: AssistantRecord
  person: Person
}

function act(deps: ScheduleToolDeps, planner: Planner, args: Arguments, context: ToolContext) {
  switch (args.action) {
    case 'create':
      return create(deps, planner, args, context)
    case 'list':
      return list(deps, planner)
    case 'cancel':
      return cancel(deps, planner, args.schedule_id)
  }
}

async function create(
  { collections, schedules: { create: make } }: ScheduleToolDeps,
  { assistant: { _id: assistantId, user_id: userId, project_id: projectId }, person }: Planner,
  { action: _action, question, in_this_conversation: here = false, schedule_id: _id, ...given }: Arguments,
  { call }: ToolContext,
): Promise<string> {
  if (question === undefined) throw new Error('`question` is required')
  if (here && call.threadId === undefined) throw new Error('there is no conversation here')
  const assistants = assistantStore(collections)
  if (!call.isApproved && !(await assistants.hasSchedulesApproved(userId, assistantId)))
    throw new Error('a person has to allow the first schedule of this assistant, and has not')
  const id = derivedId(['schedule', call.key], call.key.split('/')[0] ?? '')
  const find = () => scheduleStore(collections).findMadeBy(userId, id)
  const request = {
    ...given,
    assistant_id: assistantId,
    input: [{ type: 'human' as const, content: question }],
    ...(here && call.threadId !== undefined ? { thread_id: call.threadId } : {}),
  }
  const schedule =
    (await find()) ??
    (await make({ userId, projectId }, id, request, { madeBy: 'assistant', person }).catch(async (error: unknown) => {
      const other = isDuplicateKey(error) && (await find())
      if (other) return other
      throw error
    }))
  // A call that its owner only tries approves nothing for later.
  if (call.isApproved && call.threadId !== undefined) await assistants.approveSchedules(userId, assistantId)
  return JSON.stringify({ created: shown(schedule) })
}

async function list({ collections }: ScheduleToolDeps, planner: Planner): Promise<string> {
  const found = await scheduleStore(collections).listPlanned(planner, listed)
  return JSON.stringify({ schedules: found.map(shown) })
}

async function cancel(
  { collections, schedules }: ScheduleToolDeps,
  planner: Planner,
  scheduleId: string | undefined,
): Promise<string> {
  if (scheduleId === undefined) throw new Error('`schedule_id` is required')
  if (!(await scheduleStore(collections).hasPlanned(planner, scheduleId)))
    throw new Error('this assistant has made no such schedule')
  await schedules.remove(planner.assistant.user_id, scheduleId)
  return JSON.stringify({ cancelled: scheduleId })
}

function shown(schedule: ScheduleRecord): object {
  const { _id, cron, interval_seconds, at, timezone, note, paused, pause_reason, made_by } = schedule
  const [first] = messagesFromJson(schedule.input_json)
  return {
    schedule_id: _id,
    question: first && cutText(first.data.content, questionShown),
    ...(note === '' ? {} : { note }),
    ...(cron === undefined ? {} : { cron, timezone }),
    ...(interval_seconds === undefined ? {} : { interval_seconds }),
    ...(at === undefined ? {} : { at }),
    next_times: paused ? [] : nextTimes(schedule, new Date(), timesShown),
    ...(paused ? { paused: pause_reason ?? true } : {}),
    can_be_cancelled_here: made_by === 'assistant',
  }
}

/** The member that is wrong, as the model named it. */
function wordsOf({ message, fields: [field] = [] }: AppError): string {
  const member = field?.loc.at(-1)
  return field === undefined || member === undefined ? message : `\`${member}\` ${field.msg}`
}
