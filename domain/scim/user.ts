import { isJsonObject } from '../json.ts'
import { type PatchOperation, impliedBy, isChosen, memberOf } from './patch.ts'
import { ScimError } from './scim-error.ts'

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'

interface ScimEmail {
  value: string
  type?: string
  primary?: boolean
}

/** What provisioning can set of a user. */
export interface ScimUser {
  userName: string
  externalId?: string
  displayName?: string
  givenName?: string
  familyName?: string
  emails: ScimEmail[]
  active: boolean
}

/** Who does not say whether the user may log in leaves that as it is: nobody is let in again because it was left out. */
export type GivenScimUser = Omit<ScimUser, 'active'> & { active?: boolean }

export const scimLimits = { text: 256, emails: 10, members: 10_000, page: 200 } as const

/** Attributes of the schema that are not kept, and those of extensions: they are taken and ignored. */
const ignored =
  /^(?:schemas|id|meta|groups|password|nickName|profileUrl|title|userType|preferredLanguage|locale|timezone|phoneNumbers|ims|photos|addresses|entitlements|roles|x509Certificates|urn:.*)$/i

/** A user as POST and PUT bring it. */
export function readScimUser(body: unknown): GivenScimUser {
  if (!isJsonObject(body)) throw new ScimError('invalidSyntax', 'The body must be an object.')
  const name = memberOf(body, 'name')
  const { givenName, familyName } = isJsonObject(name) ? partsOf(name) : {}
  const userName = textOf(memberOf(body, 'userName'), 'userName')?.trim()
  if (!userName) throw new ScimError('invalidValue', 'userName is required.')
  const externalId = textOf(memberOf(body, 'externalId'), 'externalId')
  const displayName = textOf(memberOf(body, 'displayName'), 'displayName')
  const active = activeOf(memberOf(body, 'active'))
  return {
    userName,
    ...(externalId === undefined ? {} : { externalId }),
    ...(displayName === undefined ? {} : { displayName }),
    ...(givenName === undefined ? {} : { givenName }),
    ...(familyName === undefined ? {} : { familyName }),
    emails: emailsOf(memberOf(body, 'emails')),
    ...(active === undefined ? {} : { active }),
  }
}

/** The user after the operations of a PATCH. */
export function patchScimUser(user: ScimUser, operations: readonly PatchOperation[]): ScimUser {
  const next = { ...user, emails: user.emails }
  for (const { op, path, value } of operations) {
    const given = op === 'remove' ? undefined : value
    switch (path.attribute.toLowerCase()) {
      case 'username':
        if (given === undefined) throw new ScimError('mutability', 'userName cannot be removed.')
        next.userName = textOf(given, 'userName')?.trim() || next.userName
        break
      case 'externalid':
        put(next, 'externalId', given)
        break
      case 'displayname':
        put(next, 'displayName', given)
        break
      case 'active': {
        const active = activeOf(given)
        if (active === undefined) throw new ScimError('mutability', 'active cannot be removed.')
        next.active = active
        break
      }
      case 'name':
        putName(next, path.part, given)
        break
      case 'emails':
        next.emails = patchedEmails(next.emails, { op, path, value })
        break
      default:
        if (/^(?:id|meta|groups)$/i.test(path.attribute))
          throw new ScimError('mutability', `${path.attribute} cannot be changed here.`)
        if (!ignored.test(path.attribute))
          throw new ScimError('invalidPath', `There is no attribute ${path.attribute.slice(0, 100)}.`)
    }
  }
  return next
}

function put(user: ScimUser, name: 'externalId' | 'displayName' | 'givenName' | 'familyName', given: unknown): void {
  const value = textOf(given, name)
  if (value === undefined) delete user[name]
  else user[name] = value
}

function putName(user: ScimUser, part: string | undefined, given: unknown): void {
  if (part === undefined) {
    if (given !== undefined && !isJsonObject(given)) throw new ScimError('invalidValue', 'name must be an object.')
    const named = given === undefined ? { givenName: undefined, familyName: undefined } : given
    for (const [name, value] of Object.entries(named)) putName(user, name, value)
    return
  }
  if (part.toLowerCase() === 'givenname') put(user, 'givenName', given)
  else if (part.toLowerCase() === 'familyname') put(user, 'familyName', given)
  else if (!/^(?:formatted|middleName|honorificPrefix|honorificSuffix)$/i.test(part))
    throw new ScimError('invalidPath', `name has no part ${part.slice(0, 100)}.`)
}

function patchedEmails(emails: ScimEmail[], { op, path: { chosen, part }, value }: PatchOperation): ScimEmail[] {
  if (chosen === undefined) {
    if (part !== undefined)
      return patchedEmails(emails, { op, path: { attribute: 'emails', chosen: anyOne, part }, value })
    if (op === 'remove') return []
    const given = emailsOf(value)
    if (op === 'replace') return given
    const isNew = ({ value: address }: ScimEmail) => given.every((one) => one.value !== address)
    // There is one that is the first.
    const remaining = given.some(({ primary }) => primary) ? emails.map(withoutPrimary) : emails
    return bounded([...remaining.filter(isNew), ...given])
  }
  const isMeant = (email: ScimEmail) => isChosen({ ...email }, chosen)
  if (op === 'remove' && part === undefined) return emails.filter((email) => !isMeant(email))
  const change = part === undefined ? value : { [part]: op === 'remove' ? undefined : value }
  if (!isJsonObject(change)) throw new ScimError('invalidValue', 'An address must be an object.')
  if (!emails.some(isMeant)) return bounded([...emails, ...emailsOf([{ ...impliedBy(chosen), ...change }])])
  return emails.flatMap((email) => (isMeant(email) ? emailsOf([{ ...email, ...change }]) : [email]))
}

const anyOne = { kind: 'compare', path: 'value', operator: 'pr', value: undefined } as const

function emailsOf(given: unknown): ScimEmail[] {
  if (given === undefined || given === null) return []
  const list: unknown[] = Array.isArray(given) ? given : [given]
  return bounded(
    list.flatMap((one) => {
      const email = typeof one === 'string' ? { value: one } : one
      if (!isJsonObject(email)) throw new ScimError('invalidValue', 'emails must be a list of objects.')
      const value = textOf(memberOf(email, 'value'), 'emails.value')?.trim()
      if (!value) return []
      const type = textOf(memberOf(email, 'type'), 'emails.type')
      const primary = activeOf(memberOf(email, 'primary'))
      return [{ value, ...(type === undefined ? {} : { type }), ...(primary === undefined ? {} : { primary }) }]
    }),
  )
}

function bounded(emails: ScimEmail[]): ScimEmail[] {
  if (emails.length > scimLimits.emails)
    throw new ScimError('invalidValue', `A user has at most ${scimLimits.emails} addresses.`)
  return emails
}

function partsOf(name: Record<string, unknown>): { givenName?: string; familyName?: string } {
  const given = textOf(memberOf(name, 'givenName'), 'name.givenName')
  const family = textOf(memberOf(name, 'familyName'), 'name.familyName')
  return {
    ...(given === undefined ? {} : { givenName: given }),
    ...(family === undefined ? {} : { familyName: family }),
  }
}

/** Entra ID sends the boolean as text, such as "False". */
function activeOf(given: unknown): boolean | undefined {
  if (given === undefined || given === null || typeof given === 'boolean') return given ?? undefined
  if (typeof given === 'string' && /^(?:true|false)$/i.test(given)) return given.toLowerCase() === 'true'
  throw new ScimError('invalidValue', 'A boolean must be true or false.')
}

export function textOf(given: unknown, name: string): string | undefined {
  if (given === undefined || given === null || given === '') return undefined
  if (typeof given !== 'string') throw new ScimError('invalidValue', `${name} must be a text.`)
  if (given.length > scimLimits.text)
    throw new ScimError('invalidValue', `${name} has at most ${scimLimits.text} characters.`)
  return given
}

/** The address of the account: the primary one, else the first, else the user name if it is one. */
export function addressOf({ emails, userName }: Pick<ScimUser, 'emails' | 'userName'>): string | undefined {
  const { value } = emails.find(({ primary }) => primary) ?? emails[0] ?? {}
  return value ?? (/^[^\s@]+@[^\s@]+$/.test(userName) ? userName : undefined)
}

function withoutPrimary({ value, type }: ScimEmail): ScimEmail {
  return { value, ...(type === undefined ? {} : { type }) }
}
