import Type from 'typebox'

/** What all routes of `/admin` share. */
export const config = { auth: 'admin', limits: ['admin_client'] } as const
export const tags = ['admin']

export const AdminQuery = {
  admin_token: Type.Optional(
    Type.String({ maxLength: 1000, description: "The service's ADMIN_TOKEN, if it is not in a header." }),
  ),
}
