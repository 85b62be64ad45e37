import type { AssistantRecord, McpLoginRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { type Owner, ownFilter } from '../owner.ts'
import { isMatched } from '../stores/results.ts'

/** The condition that a login is as it was read. */
const asRead = ({ id, sealed }: McpLoginRecord) => ({ id, sealed: sealed ?? { $exists: false } })

/** Statements on the logins of assistants at MCP servers. */
export const mcpLoginStore = ({ assistants }: Pick<Collections, 'assistants'>) => ({
  /** Replaces that of the same server. False if the assistant has as many as it may have, or is being deleted. */
  async put(owner: Owner, id: string, login: McpLoginRecord, max: number): Promise<boolean> {
    const own = { _id: id, ...ownFilter(owner), deleting: { $ne: true } }
    const change = { $set: { 'mcp_logins.$': login } }
    if (isMatched(await assistants.updateOne({ ...own, 'mcp_logins.url': login.url }, change))) return true
    return isMatched(
      await assistants.updateOne(
        { ...own, 'mcp_logins.url': { $ne: login.url }, [`mcp_logins.${max - 1}`]: { $exists: false } },
        { $push: { mcp_logins: login } },
      ),
    )
  },

  /** False if there is none. */
  remove: async (owner: Owner, id: string, loginId: string) =>
    isMatched(
      await assistants.updateOne(
        { _id: id, ...ownFilter(owner), 'mcp_logins.id': loginId },
        { $pull: { mcp_logins: { id: loginId } } },
      ),
    ),

  /** For runs, which have a right to the assistant. */
  async findOfAny(id: string, url: string): Promise<McpLoginRecord | undefined> {
    const found = await assistants.findById(id, { mcp_logins: 1 }).lean<Pick<AssistantRecord, 'mcp_logins'>>()
    return found?.mcp_logins?.find((one) => one.url === url)
  },

  /** False while somebody else renews it, or if it is not as it was read. */
  beginRenewal: async (id: string, login: McpLoginRecord, forMs: number) =>
    isMatched(
      await assistants.updateOne(
        {
          _id: id,
          mcp_logins: { $elemMatch: { ...asRead(login), renewing_until: { $not: { $gt: new Date() } } } },
        },
        { $set: { 'mcp_logins.$.renewing_until': new Date(Date.now() + forMs) } },
      ),
    ),

  /** False if it is not as it was read. */
  replace: async (id: string, read: McpLoginRecord, login: McpLoginRecord) =>
    isMatched(
      await assistants.updateOne(
        { _id: id, mcp_logins: { $elemMatch: asRead(read) } },
        { $set: { 'mcp_logins.$': login } },
      ),
    ),

  /** Ends those that a person has made in a project. Safe to repeat. */
  async endOf(projectId: string, userId: string): Promise<void> {
    const has = (name: string) => ({ [name]: { $exists: true } })
    const mcp_logins = { $elemMatch: { user_id: userId, $or: [has('sealed'), has('client')] } }
    // Each statement changes one login of an assistant.
    while (
      isMatched(
        await assistants.updateMany(
          { project_id: projectId, mcp_logins },
          { $unset: { 'mcp_logins.$.sealed': 1, 'mcp_logins.$.client': 1 } },
        ),
      )
    );
  },

  /** For the change of `SECRETS_KEY`. */
  openOfAny: () =>
    assistants
      .find({ 'mcp_logins.0': { $exists: true } }, { mcp_logins: 1 })
      .lean<Pick<AssistantRecord, '_id' | 'mcp_logins'>[]>()
      .cursor(),
})
