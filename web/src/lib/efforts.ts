import type { Schemas } from './api.ts'

export type Effort = NonNullable<Schemas['CreateRunPayload']['reasoning_effort']>

/** How hard a model thinks. */
export const efforts = ['none', 'low', 'medium', 'high'] as const satisfies readonly Effort[]

export function effortOf(text: string): (typeof efforts)[number] | undefined {
  return efforts.find((effort) => effort === text)
}
