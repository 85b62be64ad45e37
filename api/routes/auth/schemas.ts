import Type from 'typebox'
import { languages } from '../../../domain/languages.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { nullable } from '../../../domain/nullable.ts'

/** Types of the account endpoints. `title` names the type in the OpenAPI document. */

const Email = Type.String({ format: 'email', maxLength: 254 })
const Timestamp = Type.String({ format: 'date-time' })
/**
 * The body limit of account routes bounds it: a value that is too long gets the error of its rule (400), not of its
 * type.
 */
const credential = (description: string) => Type.String({ maxLength: requestLimits.credentialLength, description })
const NewPassword = credential('8 to 256 characters')
const language = (description: string) => Type.Enum([...languages], { description })

const publicUserMembers = {
  user_id: Type.String({ format: 'uuid' }),
  email: nullable(Type.String()),
  provider: Type.Enum(['email', 'social', 'userpool'], { title: 'AccountProvider', about: 'How the account logs in.' }),
  first_name: nullable(Type.String()),
  last_name: nullable(Type.String()),
  language: Type.Optional(language('Of mails to the user; absent: English.')),
  verified: Type.Boolean(),
  thread_counter: Type.Integer(),
  thread_max: Type.Integer(),
  created_at: Timestamp,
  password_changed_at: Type.Optional(Timestamp),
}

export const User = Type.Object(publicUserMembers, { title: 'User', about: 'The account of the caller.' })

export const Message = Type.Object(
  { message: Type.String() },
  { title: 'MessageResponse', about: 'What was done, in words.' },
)

export const SignupRequest = Type.Object(
  {
    email: Email,
    password: NewPassword,
    first_name: Type.Optional(Type.String({ maxLength: 200 })),
    last_name: Type.Optional(Type.String({ maxLength: 200 })),
    language: Type.Optional(language('Of mails. Default: as the header `Accept-Language` prefers, or English.')),
  },
  { title: 'SignupRequest', about: 'A new account.' },
)
export const SignupResponse = Type.Object(
  { ...publicUserMembers, message: Type.String() },
  { title: 'SignupResponse', about: 'The new account; it has to be verified before it can log in.' },
)

export const LoginRequest = Type.Object(
  { email: Email, password: credential('The password of the account') },
  { title: 'LoginRequest', about: 'E-mail address and password.' },
)
export const LoginResponse = Type.Object(
  {
    jwt_token: Type.String(),
    main_agent_id: Type.String({ description: 'The default assistant of the project main' }),
    main_thread_id: Type.String({
      description: 'The default thread of the project main; empty if the thread quota is full',
    }),
  },
  { title: 'LoginResponse', about: 'A service token, and the default assistant and thread of the account.' },
)

export const VerifyEmailRequest = Type.Object(
  { email: Email, code: credential('The six digits of the mail') },
  { title: 'VerifyEmailRequest', about: 'The code of the verification mail.' },
)
export const ResendVerificationRequest = Type.Object(
  { email: Email },
  { title: 'ResendVerificationRequest', about: 'The account that requests a new code.' },
)

export const ForgotPasswordRequest = Type.Object(
  { email: Email },
  { title: 'ForgotPasswordRequest', about: 'The account whose password is to be reset.' },
)
export const ResetPasswordRequest = Type.Object(
  { token: credential('The token of the mail'), new_password: NewPassword },
  { title: 'ResetPasswordRequest', about: 'The token of the reset mail and the new password.' },
)

export const ExchangeResponse = Type.Object(
  { token: Type.String() },
  { title: 'ExchangeResponse', about: 'A service token for an ID token of the user pool.' },
)

export const VerificationStatusParams = Type.Object({ email: Email })
export const VerificationStatus = Type.Object(
  {
    email: Type.String(),
    verified: Type.Boolean(),
    pending: Type.Boolean(),
    expires_at: nullable(Timestamp),
    attempts_remaining: nullable(Type.Integer()),
    resend_available_at: nullable(Timestamp),
  },
  { title: 'VerificationStatus', about: 'Whether an address is verified, and the state of its code.' },
)

export const ThreadInfo = Type.Object(
  { thread_counter: Type.Integer(), thread_max: Type.Integer() },
  { title: 'ThreadInfo', about: 'Number of threads in use, and the quota.' },
)

export const UserUpdateRequest = Type.Object(
  {
    first_name: Type.Optional(nullable(Type.String({ maxLength: 200 }))),
    last_name: Type.Optional(nullable(Type.String({ maxLength: 200 }))),
    language: Type.Optional(nullable(language('Of mails to the user.'))),
  },
  {
    title: 'UserUpdateRequest',
    about: 'The names and the language to change.',
    description: 'null removes a member; an absent one leaves it unchanged',
  },
)
export const ChangePasswordRequest = Type.Object(
  { current_password: credential('The current password'), new_password: NewPassword },
  { title: 'ChangePasswordRequest', about: 'The current and the new password.' },
)
const counted = {
  runs: Type.Integer(),
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  cached_tokens: Type.Integer({ description: 'Of `prompt_tokens`, read from caches of providers.' }),
  reasoning_tokens: Type.Integer({ description: 'Of `completion_tokens`, with which models thought.' }),
}
const priced = { ...counted, cost: Type.Number() }
export const ModelList = Type.Object(
  {
    models: Type.Array(
      Type.Object({
        id: Type.String({ description: 'What `type==agent/model` of a configuration takes.' }),
        is_default: Type.Boolean(),
        context_tokens: Type.Integer(),
        providers: Type.Array(Type.String(), { description: 'In the order in which they are asked.' }),
        prices: Type.Optional(
          Type.Object(
            {
              currency: Type.String(),
              input: Type.Number(),
              output: Type.Number(),
              cached_input: Type.Optional(Type.Number()),
              cache_write: Type.Optional(Type.Number()),
              listed: Type.Optional(
                Type.Boolean({ description: 'Of the list of known models, because the operator set none.' }),
              ),
            },
            { description: 'For a million tokens.' },
          ),
        ),
        fallbacks: Type.Array(Type.String(), { description: 'Models that answer in its place while it fails.' }),
      }),
    ),
    is_demo: Type.Boolean({ description: 'Whether only the demo model of `npm start` answers.' }),
  },
  { title: 'ModelList', about: 'Models that assistants can choose.' },
)

export const Usage = Type.Object(
  {
    thread_counter: Type.Integer(),
    thread_max: Type.Integer(),
    projects: Type.Integer(),
    assistants: Type.Integer(),
    files: Type.Integer(),
    storage_bytes: Type.Integer({
      description: 'Of files, images of messages, and answers that are kept without a place of the thread quota.',
    }),
    storage_max_mb: nullable(Type.Integer({ description: 'What the files may take together.' })),
    ...counted,
    threads: Type.Array(Type.Object({ thread_id: Type.String(), ...counted }), {
      description: 'The hundred threads with the most tokens.',
    }),
    days: Type.Array(Type.Object({ date: Type.String({ description: 'Such as 2026-11-22, in UTC.' }), ...priced }), {
      description: 'Days with runs among the last days (30 unless asked otherwise), oldest first.',
    }),
    assistants_used: Type.Array(Type.Object({ assistant_id: Type.String(), ...priced }), {
      description: 'The fifty assistants with the most tokens, including deleted ones.',
    }),
    public_assistants_used: Type.Array(Type.Object({ assistant_id: Type.String(), ...priced }), {
      description: 'The same for runs of public callers: the use of each public token.',
    }),
    models_used: Type.Array(Type.Object({ model: Type.String(), ...priced }), {
      description: 'The fifty models with the most tokens; the empty name stands for runs that asked none.',
    }),
    work: Type.Object(
      {
        embedding_tokens: Type.Integer(),
        recognition_seconds: Type.Integer({ description: 'Processor time for reading pictures.' }),
        crawled_pages: Type.Integer(),
        code_seconds: Type.Number({ description: 'In which code of models was executed.' }),
        transcription_seconds: Type.Integer({ description: 'Of speech that was written down.' }),
        speech_characters: Type.Integer({ description: 'That were read aloud.' }),
        cost: Type.Number({ description: 'Of all of these.' }),
      },
      { description: 'For files and sources, beside runs, on the last 92 days with any.' },
    ),
    cost: Type.Number({ description: 'Of all runs and embeddings, by the prices in the settings as they are now.' }),
    currency: Type.String(),
  },
  { title: 'UserUsage', about: 'Threads, runs and tokens of the caller.' },
)
