const key = 'assistant-platform.admin-token'

/** The token that the operator wanted to keep for this tab; a closed tab forgets it. */
export const keptToken = (): string | undefined => sessionStorage.getItem(key) ?? undefined
export const keepToken = (token: string): void => sessionStorage.setItem(key, token)
export const forgetToken = (): void => sessionStorage.removeItem(key)
