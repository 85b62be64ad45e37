import Type from 'typebox'
import { type LoginProvider, shortFormId } from '../../domain/login-providers.ts'
import { readLoginProviders } from '../identity/login-providers.ts'
import {
  algorithms,
  credential,
  decodeKey,
  issuer,
  issuers,
  key,
  kind,
  list,
  keys,
  readBy,
  secret,
  signingSecret,
  text,
} from './kinds.ts'

export const secretSettings = {
  secretsKey: key('SECRETS_KEY', 'Encrypts keys and configurations: `openssl rand -base64 32`.', {
    isRequired: true,
  }),
  secretsKeyPrevious: keys('SECRETS_KEY_PREVIOUS', 'Earlier values, for decryption (docs/secrets.md).', {
    default: [],
  }),
  ...readBy('API', {
    jwtSecret: signingSecret('JWT_SECRET', 'Signs service tokens (32 characters); a new one invalidates all.', {
      isRequired: true,
    }),
    jwtAlgorithms: algorithms('JWT_ALGORITHM', 'Accepted algorithms: HS256, RS256 or both.', {
      default: ['HS256'],
    }),
    jwtIssuer: text('JWT_ISSUER', 'Claim `iss` of service tokens.', { default: 'assistant-platform' }),
    jwtAudience: text('JWT_AUDIENCE', 'Claim `aud` of service tokens.', { defaultText: 'JWT_ISSUER' }),
    jwtDecodeKeyBase64: decodeKey(
      'JWT_DECODE_KEY_BASE64',
      'Verifies tokens instead: a secret or RSA public key (PEM), in base64.',
      { defaultText: 'JWT_SECRET' },
    ),
    adminToken: secret('ADMIN_TOKEN', 'Token for `/admin/*` (32 characters).', {
      defaultText: '`/admin/*` refuses all requests',
    }),
  }),
}

const providers = kind<LoginProvider[]>(
  'JSON',
  readLoginProviders,
  Type.Unsafe<LoginProvider[]>(Type.Array(Type.Object({}))),
  {
    isSecret: true,
  },
)

export const accountSettings = {
  smtpUrl: credential('SMTP_URL', 'Such as `smtp://user:password@host:587`, or `smtps://`.', {
    defaultText: 'no mail',
  }),
  mailFrom: text('MAIL_FROM', 'Sender of mails.', { defaultText: '{PRODUCT_NAME} <no-reply@localhost>' }),
  ...readBy('API', {
    oauthIssuer: issuer('OAUTH_ISSUER', 'Provider of social login; callback `{BASE_URL}/auth/social/callback`.'),
    oauthClientId: text('OAUTH_CLIENT_ID', 'Client at the provider.'),
    oauthClientSecret: credential('OAUTH_CLIENT_SECRET', 'Its secret.'),
    oauthVerifiedIssuers: issuers(
      'OAUTH_VERIFIED_ISSUERS',
      'Issuers whose addresses count as verified although their tokens lack `email_verified`, such as `https://login.microsoftonline.com/{tenant}/v2.0`.',
      { default: [] },
    ),
    oauthName: text('OAUTH_NAME', 'What the button of that provider says.', { default: 'Single sign-on' }),
    oauthGroupsClaims: list(
      'OAUTH_GROUPS_CLAIMS',
      'Claims of its tokens that name the groups of a user, such as `groups,roles`.',
      { default: [] },
    ),
    oauthProviders: providers('OAUTH_PROVIDERS', 'More providers as JSON (docs/tasks/single-sign-on.md).', {
      default: [],
      defaultText: 'only OAUTH_ISSUER',
    }),
    scimToken: secret('SCIM_TOKEN', 'Token of the system that provisions users and groups (32 characters).', {
      defaultText: '`/scim/v2` does not exist',
    }),
    scimProvider: text('SCIM_PROVIDER', 'Provider through which provisioned users log in: its id.', {
      default: shortFormId,
    }),
    userpoolId: text('USERPOOL_ID', 'Pool whose ID tokens are exchanged.'),
    userpoolClientId: text('USERPOOL_CLIENT_ID', 'Their client.'),
    userpoolRegion: text('USERPOOL_REGION', 'Region of the pool.', { default: 'us-east-1' }),
    userpoolIssuer: issuer('USERPOOL_ISSUER', 'Issuer of the pool.', {
      defaultText: 'made of USERPOOL_REGION and USERPOOL_ID',
    }),
    userpoolGroupsClaims: list('USERPOOL_GROUPS_CLAIMS', 'Claims that name groups, such as `cognito:groups`.', {
      default: [],
    }),
    exchangeTokenIssuer: text('EXCHANGE_TOKEN_ISSUER', 'Claim `iss` of exchanged tokens.'),
    exchangeTokenAudience: text('EXCHANGE_TOKEN_AUDIENCE', 'Claim `aud`.', {
      defaultText: 'EXCHANGE_TOKEN_ISSUER',
    }),
    exchangePrivateKey: credential('EXCHANGE_PRIVATE_KEY', 'RSA key that signs them (PEM).'),
  }),
}
