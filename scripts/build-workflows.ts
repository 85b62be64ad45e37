import { failureConverterPath } from '../infra/temporal/data-converter.ts'
import { workflowBundle } from '../worker/temporal-sdk/workflow-bundle.ts'

/**
 * Bundles the workflows ahead of time, so that a worker starts at once and needs to write nothing: one bundle for
 * plain payloads, one for encrypted ones (`TEMPORAL_CODEC_KEY`).
 */
await workflowBundle()
await workflowBundle({ failureConverterPath })
