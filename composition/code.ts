import { describePython } from '../infra/python/describe-python.ts'
import { startPythonProcess } from '../infra/python/python-process.ts'
import type { Settings } from '../infra/config.ts'
import { createCodeSessions } from '../services/code/sessions.ts'

/** Executes the code of models; undefined if the settings switch it off. Nothing is started before the first code. */
export function composeCode({
  codeInterpreter: isOn,
  codeProcesses: processes,
  codeMemoryMb: memoryMb,
  codeSeconds: cpuSeconds,
  codePackages: packages,
}: Settings) {
  if (!isOn) return undefined
  // The processors may be taken by others.
  const limits = { memoryMb, cpuSeconds, timeoutSeconds: 3 * cpuSeconds }
  return createCodeSessions({
    start: () => startPythonProcess(limits, packages),
    description: describePython(packages),
    processes,
    keepsReady: true,
  })
}
