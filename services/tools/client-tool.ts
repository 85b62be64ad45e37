import { Value } from 'typebox/value'
import type { ToolSetting } from '../../domain/assistant-config.ts'
import { ClientFunction, ClientToolConfig } from '../../domain/client-tools.ts'
import { foreignSchemaBytes } from '../../domain/foreign-schema.ts'
import type { Tool } from '../tool.ts'

const noParameters = { type: 'object', properties: {} }

/** A function of the client: the model is offered it, and the service never executes it. */
export function clientTool({ name, description, parameters, strict }: ClientFunction): Tool {
  return {
    type: 'client',
    name,
    description: description ?? '',
    parameters: parameters ?? noParameters,
    ...(typeof strict === 'boolean' ? { strict } : {}),
    isForeign: true,
    isClient: true,
    safeToRepeat: false,
    timeoutMs: 1000,
    execute: () => Promise.reject(new Error('it is executed by the client')),
  }
}

/** The function that an entry of an assistant's tools declares. */
export function clientToolOf({ name, config = {} }: ToolSetting): { tools: Tool[] } | { problem: string } {
  if (!Value.Check(ClientToolConfig, config)) return { problem: 'config is not that of a function' }
  const declared = { ...config, name: config.name ?? name }
  if (!Value.Check(ClientFunction, declared)) return { problem: 'its name must be 1 to 64 letters, digits, _ or -' }
  if (foreignSchemaBytes(declared.parameters ?? {}) === undefined)
    return { problem: 'config/parameters is larger than 64 KiB or nests deeper than 50 levels' }
  return { tools: [clientTool(declared)] }
}
