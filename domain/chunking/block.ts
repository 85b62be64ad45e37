/**
 * The output of extraction and input of chunking: a document as a flat sequence of pieces in reading order. `page`
 * counts from 1: a page of a PDF, or a slide of a presentation.
 */
export type Block =
  | { kind: 'heading'; level: number; text: string; page?: number }
  | { kind: 'text' | 'row' | 'code'; text: string; page?: number }
