import type {
  UploadCompleted,
  UploadEvent,
  UploadRequested,
  UploadState,
} from '../../events/uploads.ts'

export const requestUpload = (upload: UploadState, facts: UploadRequested): UploadEvent[] =>
  upload === 'unknown' ? [{ type: 'upload.requested', data: facts }] : []

/** Idempotent: repeating it appends no event. */
export const completeUpload = (upload: UploadState, facts: UploadCompleted): UploadEvent[] =>
  upload === 'pending' ? [{ type: 'upload.completed', data: facts }] : []
