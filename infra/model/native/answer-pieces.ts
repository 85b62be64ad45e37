import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider'
import { isJsonObject } from '../../../domain/json.ts'
import { isArray } from '../foreign-values.ts'

interface WithOptions {
  /** What the provider sent with the piece: a signature, encrypted thinking, an id of its own. */
  options?: SharedV4ProviderOptions
}

/**
 * The pieces of an answer in their order. Texts are not repeated: the message has them, and a message whose texts have
 * other lengths was changed.
 */
export type AnswerPiece =
  | ({ type: 'reasoning'; chars: number } & WithOptions)
  | ({ type: 'text'; chars: number } & WithOptions)
  | ({ type: 'call'; index: number } & WithOptions)
  | ({ type: 'custom'; kind: `${string}.${string}` } & WithOptions)

/** What is larger is not kept, and the provider has to do without it. */
const maxBytes = 512 * 1024
const maxPieces = 2000

/** Collects what the provider must get back with the message. */
export function createAnswerPieces() {
  const pieces: AnswerPiece[] = []
  const byId = new Map<string, AnswerPiece>()

  function add(piece: AnswerPiece, id: string | undefined, metadata: SharedV4ProviderMetadata | undefined): void {
    if (id !== undefined) byId.set(id, piece)
    pieces.push(piece)
    note(piece, metadata)
  }

  /** Metadata of one piece arrives in parts: its id first, its signature last. */
  function note(piece: AnswerPiece | undefined, metadata: SharedV4ProviderMetadata | undefined): void {
    if (piece === undefined || metadata === undefined) return
    piece.options = { ...piece.options }
    for (const [provider, members] of Object.entries(metadata))
      piece.options[provider] = { ...piece.options[provider], ...members }
  }

  return {
    /** `index`: the number of the call that a part belongs to. */
    read(part: LanguageModelV4StreamPart, index?: number): void {
      switch (part.type) {
        case 'reasoning-start':
        case 'text-start':
          add({ type: kindOf(part.type), chars: 0 }, part.id, part.providerMetadata)
          break
        case 'reasoning-delta':
        case 'text-delta': {
          const type = kindOf(part.type)
          const known = byId.get(part.id)
          if (known?.type !== type) add({ type, chars: part.delta.length }, part.id, part.providerMetadata)
          else {
            known.chars += part.delta.length
            note(known, part.providerMetadata)
          }
          break
        }
        case 'reasoning-end':
        case 'text-end':
          note(byId.get(part.id), part.providerMetadata)
          break
        case 'tool-input-start':
        case 'tool-input-end':
        case 'tool-call': {
          if (index === undefined) break
          const id = `call ${index}`
          if (byId.has(id)) note(byId.get(id), part.providerMetadata)
          else add({ type: 'call', index }, id, part.providerMetadata)
          break
        }
        case 'custom':
          // It only repeats the beginning of the stream.
          if (part.kind !== 'anthropic.message_start')
            add({ type: 'custom', kind: part.kind }, undefined, part.providerMetadata)
          break
        default:
      }
    },
    /** Undefined if nothing has to go back, or it is too much. */
    all(): AnswerPiece[] | undefined {
      const retained = pieces.filter(({ type, options, ...piece }) => {
        const isEmpty = (type === 'text' || type === 'reasoning') && 'chars' in piece && piece.chars === 0
        return !isEmpty || options !== undefined
      })
      const isNeeded = retained.some(({ type, options }) => type === 'reasoning' || options !== undefined)
      if (!isNeeded || retained.length > maxPieces) return undefined
      return Buffer.byteLength(JSON.stringify(retained)) > maxBytes ? undefined : retained
    },
  }
}

function kindOf(type: 'reasoning-start' | 'reasoning-delta' | 'text-start' | 'text-delta'): 'reasoning' | 'text' {
  return type === 'reasoning-start' || type === 'reasoning-delta' ? 'reasoning' : 'text'
}

/** Stored pieces. The service wrote them, and sealed them. */
export function readPieces(value: unknown): AnswerPiece[] | undefined {
  return isArray(value) && value.every(isPiece) ? value : undefined
}

function isPiece(value: unknown): value is AnswerPiece {
  return isJsonObject(value) && typeof value['type'] === 'string'
}
