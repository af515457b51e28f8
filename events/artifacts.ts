import { type Static, Type } from 'typebox'
import { artifactFacts } from '../schemas/artifacts.ts'
import { type EventOf, event } from './event.ts'

/** Running code told of something it wrote, or told of it anew with other facts (same kind, path and step). */
export const artifactRegistered = event('artifact.registered', Type.Object(artifactFacts))

export const artifactEvents = [artifactRegistered] as const
export type ArtifactEvent = EventOf<(typeof artifactEvents)[number]>
export type ArtifactFacts = Static<typeof artifactRegistered.data>
export const artifactStream = (artifactId: string) => `artifact-${artifactId}`
