package wire

// Code names what went wrong in the words of NDJSON v1 (section "Error codes"); JSON-RPC carries the
// same word in error.data.code beside its number.
type Code string

// The codes of NDJSON v1, plus overloaded.
const (
	CodeConfigMissing  Code = "config_missing"
	CodeBinaryMissing  Code = "binary_missing"
	CodeModelMissing   Code = "model_missing"
	CodeModelPlan      Code = "model_plan_error"
	CodeUnknownMethod  Code = "unknown_method"
	CodeInvalidRequest Code = "invalid_request"
	CodeInvalidJSON    Code = "invalid_json"
	CodeCancelled      Code = "cancelled"
	CodeOverloaded     Code = "overloaded"
	CodeInternal       Code = "internal_error"
)

// The codes that only JSON-RPC v1 has (section "Errors").
const (
	CodeAuthRequired     Code = "auth_required"
	CodeAuthInvalid      Code = "auth_invalid"
	CodeConfigInvalid    Code = "config_invalid"
	CodeCredentialStore  Code = "credential_store_unavailable"
	CodeNetwork          Code = "network_error"
	CodeNotFound         Code = "not_found"
	CodeProtocolMismatch Code = "protocol_mismatch"
	CodeUsage            Code = "usage_error"

	CodeLocalToolsDisabled Code = "local_tools_disabled"

	// CodeInvalidParams and CodeNotInitialized are the words beside the numbers -32602 and -32002.
	CodeInvalidParams  Code = "invalid_params"
	CodeNotInitialized Code = "initialize_required"
)

// Fault is how a request fails: a code for programs and a message for people that says what to do
// next. A Fault never holds a secret.
type Fault struct {
	Code    Code
	Message string
	// Status is the HTTP status of the gateway's answer, for error.data.details; 0 when there is none.
	Status int
}

// Error makes a Fault an error, so that it travels through ordinary returns.
func (f *Fault) Error() string { return string(f.Code) + ": " + f.Message }

// NewFault returns a Fault.
func NewFault(code Code, message string) *Fault { return &Fault{Code: code, Message: message} }

// NotReady is the error of a model step whose server turned out not to be ready, before it answered
// anything: another attempt with a new lease may do. Fault is what to say when it doesn't.
type NotReady struct{ Fault *Fault }

// Error tells the fault.
func (n *NotReady) Error() string { return n.Fault.Error() }

// Unwrap returns the fault, so that errors.As finds it.
func (n *NotReady) Unwrap() error { return n.Fault }

// Overflow is the error of a model step whose prompt the server refused because it is too long. Fault
// is what to say when it can't be made shorter.
type Overflow struct {
	Fault *Fault
	// PromptTokens is what the request came to, ContextSize what the server has room for; 0 when the
	// server didn't say.
	PromptTokens, ContextSize int
}

// Error tells the fault.
func (o *Overflow) Error() string { return o.Fault.Error() }

// Unwrap returns the fault, so that errors.As finds it.
func (o *Overflow) Unwrap() error { return o.Fault }
