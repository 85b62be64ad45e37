import Type, { type Static } from 'typebox'

/** What is kept of an authorization server (RFC 8414) and of our registration with it (RFC 7591, or by a person). */
export const LoginServer = Type.Object({
  url: Type.String(),
  metadata: Type.Object({
    issuer: Type.String(),
    authorization_endpoint: Type.String(),
    token_endpoint: Type.String(),
    response_types_supported: Type.Array(Type.String()),
    token_endpoint_auth_methods_supported: Type.Optional(Type.Array(Type.String())),
    authorization_response_iss_parameter_supported: Type.Optional(Type.Boolean()),
  }),
  client: Type.Object({ client_id: Type.String(), client_secret: Type.Optional(Type.String()) }),
  /** The resource that tokens are for (RFC 8707). */
  resource: Type.Optional(Type.String()),
})
export type LoginServer = Static<typeof LoginServer>

export interface Tokens {
  accessToken: string
  refreshToken?: string
  /** In ms since 1970; absent: the server does not say. */
  expiresAt?: number
}
