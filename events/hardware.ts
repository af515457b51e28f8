import { decodeJson, encodeJson } from './fact.ts'

/** What was measured at one time of one GPU, or of the machine itself. */
export type HardwarePoint = {
  /** By the clock of the machine that measured, epoch milliseconds. */
  ts_ms: number
  node: string | null
  rank: number | null
  scope: 'gpu' | 'host'
  /** Of the GPU on its machine. */
  index: number | null
  uuid: string | null
  /** By name, with the unit at its end; only what is known. */
  readings: Readonly<Record<string, number>>
  /** Why the GPU ran slower than it could; empty if it did not. */
  throttle: readonly string[]
  /** The number of the driver's error, if there was one. */
  xid: number | null
}

/** The body of a `hardware.appended` fact. */
export type HardwareAppended = { points: readonly HardwarePoint[] }

export const encodeHardware = (data: HardwareAppended): Buffer => encodeJson(data)
export const decodeHardware = (body: Buffer): HardwareAppended =>
  decodeJson(body) as HardwareAppended
