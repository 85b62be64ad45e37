/** The e-mail address of the account that an intention creates. */
export const emailOf = (id: string) => `${id}@example.com`
