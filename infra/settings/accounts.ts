import { algorithms, credential, decodeKey, issuer, key, keys, readBy, secret, signingSecret, text } from './kinds.ts'

export const secretSettings = {
  secretsKey: key(
    'SECRETS_KEY',
    '32 bytes in base64 (`openssl rand -base64 32`): encrypts provider keys and configurations; codes and reset tokens are derived from it.',
    { isRequired: true },
  ),
  secretsKeyPrevious: keys(
    'SECRETS_KEY_PREVIOUS',
    'Earlier values of SECRETS_KEY, to decrypt what they encrypted (docs/secrets.md).',
    { default: [] },
  ),
  ...readBy('API', {
    jwtSecret: signingSecret(
      'JWT_SECRET',
      'Signs service tokens: at least 16 characters, in production 32; a new value invalidates all tokens.',
      { isRequired: true },
    ),
    jwtAlgorithms: algorithms('JWT_ALGORITHM', 'Accepted signature algorithms of tokens: HS256, RS256 or both.', {
      default: ['HS256'],
    }),
    jwtIssuer: text('JWT_ISSUER', 'Claim `iss` of service tokens.', { default: 'assistant-platform' }),
    jwtAudience: text('JWT_AUDIENCE', 'Claim `aud` of service tokens.', { defaultText: 'JWT_ISSUER' }),
    jwtDecodeKeyBase64: decodeKey(
      'JWT_DECODE_KEY_BASE64',
      'Verifies tokens in place of JWT_SECRET: another secret, or an RSA public key in PEM form; in base64.',
      { defaultText: 'JWT_SECRET' },
    ),
    adminToken: secret('ADMIN_TOKEN', 'Token for `/admin/*`; in production at least 32 characters.', {
      defaultText: '`/admin/*` refuses all requests',
    }),
  }),
}

export const accountSettings = {
  smtpUrl: credential('SMTP_URL', 'Mail server: `smtp://user:password@host:587` or `smtps://…`.', {
    defaultText: 'no mail',
  }),
  mailFrom: text('MAIL_FROM', 'Sender of mails.', { defaultText: '{PRODUCT_NAME} <no-reply@localhost>' }),
  ...readBy('API', {
    oauthIssuer: issuer(
      'OAUTH_ISSUER',
      'Social login: an OpenID Connect provider with a discovery document; its callback is `{BASE_URL}/auth/social/callback`.',
    ),
    oauthClientId: text('OAUTH_CLIENT_ID', 'This service as its client.'),
    oauthClientSecret: credential('OAUTH_CLIENT_SECRET', 'Secret of that client.'),
    userpoolId: text('USERPOOL_ID', 'User-pool exchange: the pool whose ID tokens are accepted.'),
    userpoolClientId: text('USERPOOL_CLIENT_ID', 'The client for which the ID tokens are made.'),
    userpoolRegion: text('USERPOOL_REGION', 'Region of the pool.', { default: 'us-east-1' }),
    userpoolIssuer: issuer('USERPOOL_ISSUER', 'Issuer of the pool.', {
      defaultText: 'made of USERPOOL_REGION and USERPOOL_ID',
    }),
    exchangeTokenIssuer: text('EXCHANGE_TOKEN_ISSUER', 'Claim `iss` of the tokens that the exchange issues.'),
    exchangeTokenAudience: text('EXCHANGE_TOKEN_AUDIENCE', 'Claim `aud` of these tokens.', {
      defaultText: 'EXCHANGE_TOKEN_ISSUER',
    }),
    exchangePrivateKey: credential(
      'EXCHANGE_PRIVATE_KEY',
      'RSA key that signs these tokens, in PEM form; line ends may be written as \\n.',
    ),
  }),
}
