import { type Connection, Schema } from 'mongoose'
import type { BillingEventRecord, PurchaseRecord } from '../../../domain/records/purchase.ts'
import { schemaOptions } from '../schema-options.ts'

const text = { type: String, required: true } as const
const date = { type: Date, required: true } as const

const purchase = new Schema<PurchaseRecord>(
  {
    _id: text,
    user_id: text,
    request_id: text,
    price_id: text,
    thread_max: { type: Number, required: true },
    schedule_max: Number,
    source_max: Number,
    status: text,
    paying: Boolean,
    url: String,
    customer_id: String,
    subscription_id: String,
    payment_intent_id: String,
    looks: { type: Number, required: true },
    stored_look: Number,
    closed_at: Date,
    cancelled: Boolean,
    created_at: date,
    updated_at: date,
  },
  schemaOptions('purchases'),
)
purchase.index({ user_id: 1 })
purchase.index({ subscription_id: 1 }, { sparse: true })
purchase.index({ payment_intent_id: 1 }, { sparse: true })
purchase.index({ customer_id: 1 }, { sparse: true })

const billingEvent = new Schema<BillingEventRecord>(
  { _id: text, type: text, remove_at: date },
  schemaOptions('billing_events'),
)
billingEvent.index({ remove_at: 1 }, { expireAfterSeconds: 0 })

export function billingModels(connection: Connection) {
  return {
    purchases: connection.model<PurchaseRecord>('Purchase', purchase),
    billingEvents: connection.model<BillingEventRecord>('BillingEvent', billingEvent),
  }
}
