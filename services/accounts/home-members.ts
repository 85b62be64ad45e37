import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { HomeMembers } from './home.ts'

/** The default assistant and thread of a home, straight on the collections. */
export function createHomeMembers({
  users,
  assistants,
  threads,
}: Pick<Collections, 'users' | 'assistants' | 'threads'>): HomeMembers {
  return {
    async assistantExists({ userId, projectId }, assistantId) {
      const filter = { _id: assistantId, user_id: userId, project_id: projectId, deleting: { $ne: true } }
      return (await assistants.exists(filter)) !== null
    },

    async createAssistant({ userId, projectId }, assistantId) {
      const now = new Date()
      const assistant: AssistantRecord = {
        _id: assistantId,
        user_id: userId,
        project_id: projectId,
        name: 'Assistant',
        config_json: '{}',
        public: false,
        access_mode: 'authenticated',
        allowed_origins: [],
        created_at: now,
        updated_at: now,
      }
      await insertUnlessThere(() => assistants.create(assistant))
    },

    async threadExists({ userId, projectId }, threadId) {
      const filter = { _id: threadId, user_id: userId, project_id: projectId, deleting: { $ne: true } }
      return (await threads.exists(filter)) !== null
    },

    async createThread({ userId, projectId }, threadId, assistantId) {
      const now = new Date()
      const room = { _id: userId, deleting: { $ne: true }, $expr: { $lt: ['$thread_counter', '$thread_max'] } }
      const { modifiedCount } = await users.updateOne(room, { $inc: { thread_counter: 1 } })
      if (modifiedCount === 0) return false
      const thread: ThreadRecord = {
        _id: threadId,
        user_id: userId,
        project_id: projectId,
        assistant_id: assistantId,
        name: 'New conversation',
        metadata_json: '{}',
        public: false,
        last_outcome: 'none',
        created_at: now,
        updated_at: now,
      }
      if (!(await insertUnlessThere(() => threads.create(thread)))) {
        await users.updateOne({ _id: userId }, { $inc: { thread_counter: -1 } })
      }
      return true
    },

    async newestThread({ userId, projectId }) {
      const newest = await threads
        .findOne({ user_id: userId, project_id: projectId, public: false, deleting: { $ne: true } }, { _id: 1 })
        .sort({ updated_at: -1 })
        .lean()
      return newest?._id
    },
  }
}

/** False when another request was first. */
async function insertUnlessThere(insert: () => Promise<unknown>): Promise<boolean> {
  try {
    await insert()
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}
