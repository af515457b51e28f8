import { type Static, Type } from 'typebox'
import { nullable } from '../schemas/shared.ts'
import { uploadFacts } from '../schemas/uploads.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** A person received an address to send a file to. */
export const uploadRequested = event(
  'upload.requested',
  Type.Object(uploadFacts),
  ({ filename, size_bytes, purpose }, who) =>
    `${who} asked to upload the ${purpose} ${filename} (${size_bytes} bytes)`,
)

/** The file arrived in full and was registered. `files` and `expanded_bytes` describe what an archive holds. */
export const uploadCompleted = event(
  'upload.completed',
  Type.Object({
    upload_id: Type.String(),
    owner: Type.String(),
    size_bytes: Type.Integer({ minimum: 0 }),
    sha256: Type.String(),
    files: nullable(Type.Integer({ minimum: 0 })),
    expanded_bytes: nullable(Type.Integer({ minimum: 0 })),
  }),
  ({ upload_id, size_bytes }, who) => `${who} uploaded ${upload_id} (${size_bytes} bytes)`,
)

const events = [uploadRequested, uploadCompleted] as const
export type UploadEvent = EventOf<(typeof events)[number]>
export type UploadRequested = Static<typeof uploadRequested.data>
export type UploadCompleted = Static<typeof uploadCompleted.data>

export type UploadState = 'unknown' | 'pending' | 'completed'

function evolve(_: UploadState, event: UploadEvent): UploadState {
  switch (event.type) {
    case 'upload.requested':
      return 'pending'
    case 'upload.completed':
      return 'completed'
  }
}

export const uploads = aggregate('upload', { events, initial: 'unknown', evolve })
export const uploadAt = (uploadId: string) => uploads.at(uploadId)
