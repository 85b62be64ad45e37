import { groupSchema, scimLimits, userSchema } from '../../../domain/scim/user.ts'

const common = { multiValued: false, required: false, mutability: 'readWrite', returned: 'default', uniqueness: 'none' }
const text = (name: string, description: string, more: object = {}) => ({
  name,
  type: 'string',
  description,
  caseExact: false,
  ...common,
  ...more,
})
const readOnly = { mutability: 'readOnly' }
const reference = (types: string[], more: object = {}) => ({
  name: '$ref',
  type: 'reference',
  description: 'Address of the resource.',
  referenceTypes: types,
  caseExact: true,
  ...common,
  ...more,
})

/** What `/Schemas` says: the attributes that are kept. */
export const schemas = [
  {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id: userSchema,
    name: 'User',
    description: 'Somebody who has, or can have, an account here.',
    attributes: [
      text('userName', 'What the provisioning system calls the user.', { required: true, uniqueness: 'server' }),
      {
        name: 'name',
        type: 'complex',
        description: 'The parts of the name.',
        ...common,
        subAttributes: [text('givenName', 'The first name.'), text('familyName', 'The last name.')],
      },
      text('displayName', 'The name for people.'),
      { name: 'active', type: 'boolean', description: 'Whether the user may log in.', ...common, required: true },
      {
        name: 'emails',
        type: 'complex',
        description: 'The primary address is that of the account.',
        ...common,
        multiValued: true,
        subAttributes: [
          text('value', 'The address.'),
          text('type', 'What it is for.', { canonicalValues: ['work', 'home', 'other'] }),
          { name: 'primary', type: 'boolean', description: 'Whether it is the first.', ...common },
        ],
      },
      {
        name: 'groups',
        type: 'complex',
        description: 'The groups of provisioning in which the user is.',
        ...common,
        ...readOnly,
        multiValued: true,
        subAttributes: [
          text('value', 'Id of the group.', { ...readOnly, caseExact: true }),
          text('display', 'Its name.', readOnly),
          reference(['Group'], readOnly),
        ],
      },
    ],
  },
  {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id: groupSchema,
    name: 'Group',
    description: 'Several users, to whom projects give roles.',
    attributes: [
      text('displayName', 'The name for people.', { required: true, uniqueness: 'server' }),
      {
        name: 'members',
        type: 'complex',
        description: 'Who is in it.',
        ...common,
        multiValued: true,
        subAttributes: [
          text('value', 'Id of the user.', { mutability: 'immutable', caseExact: true }),
          text('type', 'Always User.', { mutability: 'immutable', canonicalValues: ['User'] }),
          text('display', 'The name of the user.', { ...readOnly, returned: 'request' }),
          reference(['User'], { mutability: 'immutable' }),
        ],
      },
    ],
  },
]

export const resourceTypes = [
  { id: 'User', endpoint: '/Users', schema: userSchema, description: 'Users' },
  { id: 'Group', endpoint: '/Groups', schema: groupSchema, description: 'Groups of users' },
].map((one) => ({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'], name: one.id, ...one }))

export const serviceProvider = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: scimLimits.page },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The token of the setting SCIM_TOKEN, in the header Authorization.',
      primary: true,
    },
  ],
}

/** With where it is. */
export const located = <T extends object>(resource: T, resourceType: string, location: string) => ({
  ...resource,
  meta: { resourceType, location },
})
