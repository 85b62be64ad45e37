import { type Connection, Schema } from 'mongoose'
import type { BudgetRecord } from '../../../domain/records/budget.ts'
import { schemaOptions } from '../schema-options.ts'

const text = { type: String, required: true } as const
const time = { type: Date, required: true } as const
const number = { type: Number, required: true } as const

const budget = new Schema<BudgetRecord>(
  {
    _id: text,
    user_id: text,
    max_runs: number,
    max_tokens: number,
    max_money: number,
    day: text,
    runs: number,
    tokens: number,
    money: number,
    held: { type: [{ run: text, tokens: number, money: number, at: time, _id: false }], default: undefined },
    looked_at: Date,
    unseeded: Boolean,
  },
  schemaOptions('budgets'),
)

export function budgetModels(connection: Connection) {
  return { budgets: connection.model<BudgetRecord>('Budget', budget) }
}
