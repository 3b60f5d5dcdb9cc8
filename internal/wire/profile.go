package wire

// The shapes of profiles, sign-in and local tools that JSON-RPC v1 shows. Texts are plain and may hold any
// character; AppendString writes them. None of them holds a secret.

const (
	// LocalProfile is the reserved name of the built-in profile: the agents of the configuration, without
	// a gateway and without a sign-in.
	LocalProfile = "local"
	// LocalServerURL stands for the address of the built-in profile.
	LocalServerURL = "local:"
)

// Profile is a gateway by name, as profile/list shows it.
type Profile struct {
	Name string
	// ServerURL is normalized: with its scheme, without a slash at the end. LocalServerURL is the built-in
	// profile's.
	ServerURL string
	Current   bool
}

// Local reports whether this is the built-in profile.
func (p Profile) Local() bool { return p.Name == LocalProfile }

// AuthReason says why a session doesn't hold.
type AuthReason string

// The reasons of auth/status; the empty one stands for a session that holds.
const (
	AuthHolds          AuthReason = ""
	AuthMissingSession AuthReason = "missing_session"
	AuthNetwork        AuthReason = "network"
	AuthInvalidSession AuthReason = "invalid_session"
)

// AuthUser is whom a session belongs to. Roles and Permissions are never nil.
type AuthUser struct {
	UserID, Username   string
	IsSuperuser        bool
	Roles, Permissions []string
}

// AuthStatus is the answer of auth/login and auth/status.
type AuthStatus struct {
	Profile, ServerURL string
	Authenticated      bool
	User               *AuthUser // nil when nobody is known
	Reason             AuthReason
}

// LocalTools is the configuration of local tools. Its lists are never nil.
type LocalTools struct {
	Enabled bool
	CWD     string
	// TimeoutMS bounds a call, in milliseconds: 1,000 to 3,600,000.
	TimeoutMS                     int64
	AllowedRoots, BlockedCommands []string
	AllowDangerous                bool
}

// LocalToolsChange is what localTools/configure changes; nil members stay as they are.
type LocalToolsChange struct {
	Enabled *bool
	CWD     *string
	// TimeoutMS is brought into its range.
	TimeoutMS                     *int64
	AllowedRoots, BlockedCommands []string // empty and not nil for an empty list
	AllowDangerous                *bool
}
