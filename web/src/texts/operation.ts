import { enOperation } from './en-operation.ts'

/** The texts of the operator's page in the language of the page. */
export const operationTexts: typeof enOperation = enOperation
