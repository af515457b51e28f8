/** Folders of a process that are no slices: all of its slices share them. */
export const sharedRooms: readonly string[] = [
  'command-api/commit',
  'command-api/effects',
  'command-api/relay',
  'command-api/rules',
  'projector/dead-letters',
  'projector/rebuild',
  'projector/runner',
  'query-api/reading',
  'query-api/rules',
  'query-api/sse',
]

/** The slice that a file in a folder of a process belongs to. */
export function sliceOf(file: string): string | undefined {
  const [, process = '', folder = ''] = /^([\w-]+)\/([^/]+)\/[^/]/.exec(file) ?? []
  const hasSlices = ['command-api', 'projector', 'query-api'].includes(process)
  return hasSlices && !sharedRooms.includes(`${process}/${folder}`) ? folder : undefined
}
