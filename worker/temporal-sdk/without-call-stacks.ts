// Before a change: README.md of this folder.
/**
 * Temporal's SDK notes the call stack of each promise that a workflow creates, for the view "Call Stack" of the Web UI:
 * it formats a stack trace and looks up each line of it in the source map, which took 42 % of the processor time of
 * workflows. To get at the error class and the state of a workflow from outside of its context, it compiles code with
 * `promise.constructor.constructor`. Here it is given a class without stacks, for which it notes nothing.
 *
 * The bundle evaluates this module first, unless call stacks are wanted (`WORKFLOW_CALL_STACKS`).
 */
const compileAsBefore = Promise.constructor as FunctionConstructor

function compile(code: string): () => unknown {
  if (code === 'return globalThis.Error') return () => WithoutStack
  if (code === 'return globalThis.__TEMPORAL_ACTIVATOR__')
    return (): unknown => Reflect.get(globalThis, '__TEMPORAL_ACTIVATOR__')
  return compileAsBefore(code) as () => unknown
}

class WithoutStack {
  readonly stack = undefined
}

Object.defineProperty(Promise, 'constructor', { value: compile })
