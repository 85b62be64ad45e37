/**
 * The most that one answer holds of what users have stored, in bytes of JSON text. A list that is
 * longer stops there, and its next page goes on. It holds at least one entry all the same: entries
 * have limits of their own.
 */
export const answerBytes = 8 * 1024 * 1024
