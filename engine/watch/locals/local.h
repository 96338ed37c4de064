namespace emulator {

/* A local variable of kernel.cu that is in scope: for ../locals.c, which may give it another value,
 * or make it one that the threads of a block share. insert.c puts one behind each declaration. No
 * directives in this file: it comes after the preprocessor. */
struct local {
    const char *name, *file;
    int line;
    unsigned number;
    bool valued, pointer;
    void *address;
    unsigned long bytes;
    local *outer;
};

extern "C" {
void emulator_local_begins(local *local);
void emulator_local_ends(local *local);
}

template <class T> struct is_pointer { static constexpr bool value = false; };
template <class T> struct is_pointer<T *> { static constexpr bool value = true; };
template <class T> struct is_const { static constexpr bool value = false; };
template <class T> struct is_const<const T> { static constexpr bool value = true; };
template <class T, unsigned long n> struct is_const<const T[n]> {
    static constexpr bool value = true;
};

/* A class that has a constructor of its own begins with a value. */
template <class T> struct in_scope : local {
    static constexpr bool counts = __has_trivial_destructor(T) && !is_const<T>::value;
    in_scope(T &variable, unsigned number, bool has_value, const char *name, const char *file,
             int line)
        : local{name,
                file,
                line,
                number,
                has_value || !__is_trivially_constructible(T),
                is_pointer<T>::value,
                (void *)__builtin_addressof(variable),
                sizeof(T),
                nullptr} {
        if (counts) emulator_local_begins(this);
    }
    ~in_scope() {
        if (counts) emulator_local_ends(this);
    }
    in_scope(const in_scope &) = delete;
};

/* What a variable begins with that is declared without a value where no second declaration can
 * follow: for (int i; ...). */
struct no_value {
    unsigned number;
    const char *name, *file;
    int line;
    template <class T> operator T() const {
        T value;
        in_scope<T> filled(value, number, false, name, file, line);
        return value;
    }
};

} // namespace emulator
