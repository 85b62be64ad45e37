/**
 * The maximum size of stored content in one answer, in bytes of JSON text. A longer list ends there, and its next
 * page continues. A page holds at least one entry; entries have their own size limits.
 */
export const answerBytes = 8 * 1024 * 1024
