import Type, { type Static } from 'typebox'
import { AnyKey } from '../../../domain/any-key.ts'
import { type DeletionResult, sharedProjectsChoices } from '../../../domain/contracts/deletion.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { type ReceiptRecord, receiptKinds } from '../../../domain/records/receipt.ts'
import { Timestamp } from '../schemas.ts'

const receiptId = Type.Optional(Type.String({ description: 'Id of the receipt: GET /receipts/{id}.' }))

export const DeletionResponse = Type.Object(
  {
    deleted: Type.Boolean({ description: 'False while it is still under way (status 202).' }),
    message: Type.String(),
    receipt_id: receiptId,
  },
  {
    title: 'DeletionResponse',
    about: 'A deletion that is complete (200) or still under way (202). The receipt shows its counts.',
  },
)

export const ProjectDeleteResponse = Type.Object(
  {
    project_id: Type.String(),
    deleted: Type.Boolean(),
    requires_confirmation: Type.Boolean(),
    assistants: Type.Integer(),
    threads: Type.Integer(),
    message: Type.String(),
    receipt_id: receiptId,
  },
  { title: 'ProjectDeleteResponse', about: 'The deletion of a project, or the request to confirm it.' },
)

export const DeleteUserRequest = Type.Object(
  {
    email_confirmation: Type.String({
      minLength: 1,
      maxLength: requestLimits.credentialLength,
      description: "The account's e-mail address.",
    }),
    shared_projects: Type.Optional(
      Type.Enum([...sharedProjectsChoices], {
        title: 'SharedProjects',
        about: 'What becomes of shared projects with their account.',
        description:
          'What becomes of your projects that others use and in which nobody else is an owner: the member who may do most gets them (`hand_over`), or they are deleted. Required if there are any. Those with another owner go to him.',
      }),
    ),
  },
  { title: 'DeleteUserRequest', about: 'The e-mail address of the account, as a confirmation.' },
)

const counts = Type.Record(AnyKey, Type.Integer())

export const Receipt = Type.Object(
  {
    receipt_id: Type.String(),
    kind: Type.Enum([...receiptKinds], { title: 'DeletionKind', about: 'What was deleted.' }),
    subject_id: Type.String(),
    user_id: Type.String(),
    status: Type.Enum(['running', 'complete', 'failed'], {
      title: 'ReceiptStatus',
      about: 'Progress of the deletion.',
    }),
    found: Type.Unsafe<Record<string, number>>({
      ...counts,
      description: 'Counts by store before the deletion.',
    }),
    left: Type.Unsafe<Record<string, number>>({ ...counts, description: 'Counts by store after the deletion.' }),
    projects: Type.Optional(
      Type.Array(
        Type.Object(
          {
            project_id: Type.String(),
            outcome: Type.Enum(['handed_over', 'deleted'], {
              title: 'ProjectOutcome',
              about: 'What became of a shared project.',
            }),
            to: Type.Optional(Type.String({ description: 'Who holds it now.' })),
          },
          { title: 'DeletedAccountProject', about: 'A shared project of an account that was deleted.' },
        ),
        { description: 'What became of the projects of the account that others use.' },
      ),
    ),
    waiting_for: Type.Optional(
      Type.Enum(['payment_provider'], {
        title: 'ReceiptWaitingFor',
        about: 'Another service that the deletion waits for.',
        description:
          'Present while the deletion waits for another service before it removes anything: the payment provider, where the subscriptions of an account are cancelled first.',
      }),
    ),
    created_at: Timestamp,
    completed_at: Type.Union([Timestamp, Type.Null()]),
  },
  { title: 'Receipt', about: 'The proof of a deletion: what was found, and what is left, by store.' },
)

export function toDeletion({ status, receiptId: id }: DeletionResult, what: string): Static<typeof DeletionResponse> {
  const deleted = status === 'complete'
  const message = deleted ? `The ${what} is deleted.` : `The ${what} is being deleted.`
  return { deleted, message, ...(id === undefined ? {} : { receipt_id: id }) }
}

export function toReceipt(receipt: ReceiptRecord): Static<typeof Receipt> {
  return {
    receipt_id: receipt._id,
    kind: receipt.kind,
    subject_id: receipt.subject_id,
    user_id: receipt.user_id,
    status: receipt.status,
    found: receipt.found,
    left: receipt.left,
    ...(receipt.projects === undefined ? {} : { projects: receipt.projects }),
    ...(receipt.waiting_for === undefined ? {} : { waiting_for: receipt.waiting_for }),
    created_at: receipt.created_at.toISOString(),
    completed_at: receipt.completed_at?.toISOString() ?? null,
  }
}
