import { useState } from 'react'
import { useSame } from '../../lib/use-same.ts'
import type { TurnActions } from './turn-parts.ts'

/** The same functions in every render, so that turns are drawn again only when they change. */
export function useTurnActions({ onEdit, onEditAnswer, onRetry, onVersion, onSource }: TurnActions): TurnActions {
  const same = {
    onEdit: useSame(onEdit),
    onRetry: useSame(onRetry),
    onVersion: useSame(onVersion),
    onSource: useSame(onSource),
  }
  const edit = useSame(onEditAnswer ?? (() => {}))
  return useState({ ...same, onEditAnswer: onEditAnswer && edit })[0]
}
